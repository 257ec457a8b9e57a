import { crashContract } from "../crashes.ts";
import { onDisk } from "../sharing.ts";

crashContract("a state in a folder", onDisk);
