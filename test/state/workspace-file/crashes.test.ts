import { crashContract } from "../crashes.ts";
import { inWorkspace } from "../sharing.ts";

crashContract("a state in the workspace", inWorkspace);
