import { storeContract } from "../../contract.ts";
import { inWorkspace } from "../../sharing.ts";

storeContract("a state in the workspace", inWorkspace);
