// From method and path to the operation of the contract.

import findMyWay from "find-my-way";
import type { OperationSpec } from "./contract.ts";

export interface Route {
  readonly spec: OperationSpec;
  readonly params: Readonly<Record<string, string>>;
}

export type Router = (method: string, path: string) => Route | undefined;

export function makeRouter(operations: readonly OperationSpec[]): Router {
  const routes = findMyWay();
  const noHandler = () => {};
  for (const spec of operations) {
    routes.on(
      spec.method as findMyWay.HTTPMethod,
      spec.path.replaceAll(/\{(\w+)\}/g, ":$1"),
      noHandler,
      spec,
    );
  }
  return (method, path) => {
    const found = routes.find(method as findMyWay.HTTPMethod, path);
    return found === null
      ? undefined
      : { spec: found.store as OperationSpec, params: textParams(found.params) };
  };
}

function textParams(params: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, value ?? ""]));
}
