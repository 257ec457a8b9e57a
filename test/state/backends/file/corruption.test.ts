import { corruptionContract } from "../../corruption-contract.ts";
import { onDisk } from "../../sharing.ts";

corruptionContract("a state in a folder", onDisk, 1);
