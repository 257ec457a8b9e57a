import { storeContract } from "../../contract.ts";
import { onDisk } from "../../sharing.ts";

storeContract("a state in a folder", onDisk);
