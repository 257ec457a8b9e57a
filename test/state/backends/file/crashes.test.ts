import { crashContract, takeoverContract } from "../../crashes.ts";
import { onDisk } from "../../sharing.ts";

crashContract("a state in a folder", onDisk);
takeoverContract("a state in a folder", onDisk);
