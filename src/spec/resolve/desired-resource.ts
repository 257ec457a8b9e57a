// One desired resource for planning and apply; its locations are computed on demand.

import type { Address } from "../../core/address.ts";
import type { Location } from "../../core/diagnostic.ts";
import type { Path } from "../../core/pointer.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { Payload } from "../../resource/operations.ts";
import { tracedLocationOf } from "../model/findings.ts";
import type { Span } from "../model/source.ts";
import type { InstanceOrigin, Lifecycle, Reference, Resource, WrittenResource } from "../model/spec.ts";
import { type MapNode, spanOf } from "../model/tree.ts";

/** Results of resolution, in addition to the declared fields. */
export type ResolvedDesired = Pick<Resource, "values" | "references" | "dependsOn" | "lifecycle"> & {
  readonly sensitive: readonly Path[];
  readonly payload: Payload | undefined;
  readonly unread: string | undefined;
};

export class Desired implements Resource {
  readonly address: Address;
  readonly kind: string;
  readonly key: string;
  readonly name: string;
  readonly values: Values;
  readonly references: readonly Reference[];
  declare readonly sensitive?: readonly Path[];
  readonly dependsOn: readonly Address[];
  readonly owns: readonly string[];
  readonly lifecycle: Lifecycle;
  declare readonly payload?: Payload;
  declare readonly unread?: string;
  readonly #at: Span;
  readonly #origin: InstanceOrigin | undefined;
  readonly #fields: MapNode;

  constructor(written: WrittenResource, fields: MapNode, settled: ResolvedDesired) {
    this.address = written.address;
    this.kind = written.provider.kind;
    this.key = written.key;
    this.name = written.name;
    this.values = settled.values;
    this.references = settled.references;
    if (settled.sensitive.length > 0) this.sensitive = settled.sensitive;
    this.dependsOn = settled.dependsOn;
    this.owns = written.owns;
    this.lifecycle = settled.lifecycle;
    if (settled.payload !== undefined) this.payload = settled.payload;
    if (settled.unread !== undefined) this.unread = settled.unread;
    this.#at = written.at;
    this.#origin = written.origin;
    this.#fields = fields;
  }

  get at(): Location {
    return tracedLocationOf(this.#at, this.#origin);
  }

  locate(path: Path): Location {
    const first = path[0];
    const isWritten = first !== undefined && this.#fields.members.has(String(first));
    return tracedLocationOf(isWritten ? spanOf(this.#fields, path) : this.#at, this.#origin);
  }
}
