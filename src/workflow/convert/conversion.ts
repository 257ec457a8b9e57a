// The result of a conversion: converted resources, and a reason for each omitted resource and attribute.

import type { Address } from "../../core/address.ts";
import type { Path } from "../../core/pointer.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { TerraformInstance } from "./terraform-state.ts";

export interface ConvertedObject {
  readonly kind: string;
  readonly live: LiveObject;
  readonly instance: TerraformInstance;
}

export type ConvertedObjects = ReadonlyMap<string, ConvertedObject>;

export const convertedKey = (kind: string, id: string): string => `${kind}\n${id}`;

export interface OmittedResource {
  readonly terraform: string;
  readonly at: Path;
  readonly reason: string;
}

export interface OmittedResourceAttribute extends OmittedResource {
  readonly attribute: Path;
}

/** A resource in both; memberships and entitlements become part of another one. */
export interface ConvertedResource {
  readonly terraform: string;
  readonly address: Address;
  readonly id: string;
}

export interface ConversionNote {
  readonly terraform: string;
  readonly text: string;
}

export class ConversionLog {
  readonly #resources: OmittedResource[] = [];
  readonly #order: ReadonlyMap<Path, number>;
  readonly attributes: OmittedResourceAttribute[] = [];
  readonly notes: ConversionNote[] = [];

  /** `places`: those of the instances, in the order of the state. */
  constructor(places: readonly Path[]) {
    this.#order = new Map(places.map((at, index) => [at, index]));
  }

  /** In the order of the state. */
  get resources(): readonly OmittedResource[] {
    const rank = ({ at }: OmittedResource): number => this.#order.get(at) ?? 0;
    return this.#resources.toSorted((a, b) => rank(a) - rank(b));
  }

  leave(instance: { readonly address: string; readonly at: Path }, reason: string): void {
    this.#resources.push({ terraform: instance.address, at: instance.at, reason });
  }

  leaveAttribute(
    instance: { readonly address: string; readonly at: Path },
    attribute: Path,
    reason: string,
  ): void {
    this.attributes.push({ terraform: instance.address, at: instance.at, attribute, reason });
  }

  note(instance: { readonly address: string }, text: string): void {
    this.notes.push({ terraform: instance.address, text });
  }
}
