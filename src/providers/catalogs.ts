// Catalogs of the service that specs choose values from, each with the request that lists it.

import type { Catalogs } from "../resource/catalog.ts";
import { objectsIn, responseText } from "./kit/responses.ts";

export const catalogs: Catalogs = {
  spark_versions: {
    singular: "Spark version",
    operation: "clusters/spark-versions",
    values: (answer) => objectsIn(answer, "versions").flatMap((one) => responseText(one, "key") ?? []),
  },
  node_types: {
    singular: "node type",
    operation: "clusters/list-node-types",
    values: (answer) =>
      objectsIn(answer, "node_types").flatMap((one) => responseText(one, "node_type_id") ?? []),
  },
};
