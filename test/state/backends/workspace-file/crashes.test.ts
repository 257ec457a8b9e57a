import { crashContract, takeoverContract } from "../../crashes.ts";
import { inWorkspace } from "../../sharing.ts";

crashContract("a state in the workspace", inWorkspace);
takeoverContract("a state in the workspace", inWorkspace);
