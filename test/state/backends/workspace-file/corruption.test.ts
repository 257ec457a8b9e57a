import { corruptionContract } from "../../corruption-contract.ts";
import { inWorkspace } from "../../sharing.ts";

corruptionContract("a state in the workspace", inWorkspace, 13);
