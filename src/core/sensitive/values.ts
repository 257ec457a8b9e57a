// The sensitive values of a run, and how they are hidden: outputs, the state, and rules get digests or marks instead, by the places and the
// strings of the values.

import type { Address } from "../address.ts";
import type { Diagnostic } from "../diagnostic.ts";
import { isObject, type Json, type JsonObject } from "../json.ts";
import { lazily } from "../lazily.ts";
import { type Path, toPointer, valueAt } from "../pointer.ts";
import { changedScalars, isScalar, type Scalar, visitScalars } from "../scalars.ts";
import { hasDigest, ValueDigests } from "./digests.ts";
import { SHORTEST_UNSURE_PART } from "./forms.ts";
import {
  addPlace,
  emptyTree,
  hasPlace,
  isIn,
  type Place,
  Places,
  type PlaceTree,
  withoutIndexes,
} from "./places.ts";
import { SENSITIVE_TEXT, SensitiveTexts } from "./texts.ts";

/** The desired resource of an address. */
interface Declared {
  readonly values: JsonObject;
  /** The normal form, which is compared and recorded. Few resources need it. */
  readonly form: () => JsonObject;
  /** With the holders that the values have. */
  readonly places: () => Places;
  /** As the spec writes them, with the indexes of lists. */
  readonly written: PlaceTree;
  /** The same without holders. */
  readonly unheld: PlaceTree;
  readonly hasPlaces: boolean;
  /** The strings at sensitive places. */
  readonly sensitive: readonly string[];
}

/** A desired resource without sensitive places. */
interface OpenResource {
  readonly values: JsonObject;
  readonly form: () => JsonObject;
}

/**
 * `shown`: in outputs, where the text of a sensitive value is hidden in any other value, too. `stored`: in the state. `judged`: for
 * rules, which must see what the spec writes in plain text, also if a sensitive value is equal to it.
 */
export type Concealment = "shown" | "stored" | "judged";

export interface SensitiveValuesOptions {
  /** The key of the state's digests. */
  readonly key: Uint8Array;
  readonly lineage: string;
  readonly texts?: SensitiveTexts | undefined;
  /** Whether equal entries of a list have equal digests, so that lists can be compared by them. */
  readonly ignoresIndexes?: boolean;
  readonly placeOf?: (address: Address, path: Path) => Place;
  /** Whether the last key of a path is the name of a field, which contains no value of a user, and not a key of an open map. */
  readonly isField?: (address: Address, path: Path) => boolean;
  /** Whether a word is the name of a field of some kind: messages show it, as paths do. */
  readonly isFieldName?: (word: string) => boolean;
}

export class SensitiveValues {
  readonly texts: SensitiveTexts;
  readonly #digests: ValueDigests;
  readonly #ignoresIndexes: boolean;
  readonly #placeOf: NonNullable<SensitiveValuesOptions["placeOf"]>;
  readonly #isField: NonNullable<SensitiveValuesOptions["isField"]>;
  readonly #isFieldName: SensitiveValuesOptions["isFieldName"];
  readonly #declared = new Map<Address, Declared>();
  #findOpen: (address: Address) => OpenResource | undefined = () => undefined;
  #findRecorded: (address: Address) => readonly JsonObject[] = () => [];
  readonly #recorded = new Map<Address, Places>();
  /** Recorded values with digests. */
  readonly #records = new Map<Address, readonly JsonObject[]>();
  /** The stored form of revealed values. */
  readonly #originals = new WeakMap<object, JsonObject>();
  #hasPlaces = false;

  constructor({ key, lineage, texts = new SensitiveTexts(), ...options }: SensitiveValuesOptions) {
    this.#digests = new ValueDigests(key, lineage);
    this.#ignoresIndexes = options.ignoresIndexes === true;
    this.#placeOf = options.placeOf ?? ((_, path) => ({ place: path }));
    this.#isField = options.isField ?? (() => false);
    this.#isFieldName = options.isFieldName;
    this.texts = texts;
  }

  /** Whether the run has nothing to hide. */
  get isEmpty(): boolean {
    return !this.#hasPlaces && this.texts.size === 0;
  }

  /** Whether some place of a resource is sensitive; else no state has a digest. */
  get hasAnyPlace(): boolean {
    return this.#hasPlaces;
  }

  /** Declares the values of a spec: `paths` lead to the sensitive ones. `form`: the normal form of the values. */
  declare(address: Address, values: JsonObject, paths: readonly Path[], form = () => values): void {
    const [written, unheld] = [emptyTree(), emptyTree()];
    // Few resources have such a place, and few need to know their holders.
    const places = lazily(() => {
      const inValues = new Places();
      for (const path of paths) inValues.add(this.#placeOf(address, path));
      this.#addHolders(address, inValues, values);
      return inValues;
    });
    const sensitive: string[] = [];
    for (const path of paths) {
      this.#hasPlaces = true;
      addPlace(written, path);
      addPlace(unheld, this.withoutHolder(address, path));
      const value = valueAt(values, path);
      if (!isScalar(value)) continue;
      if (typeof value === "string") sensitive.push(value);
      this.#digests.learn(value);
      this.texts.addValue(value);
    }
    this.#declared.set(address, {
      values,
      form,
      places,
      written,
      unheld,
      hasPlaces: paths.length > 0,
      sensitive,
    });
  }

  /** Declares the resources without sensitive places, each when it is needed: a large workspace has many of them. */
  declareOpen(find: (address: Address) => OpenResource | undefined): void {
    this.#findOpen = find;
  }

  #declaredAt(address: Address): Declared | undefined {
    const open = this.#declared.has(address) ? undefined : this.#findOpen(address);
    if (open !== undefined) this.declare(address, open.values, [], open.form);
    return this.#declared.get(address);
  }

  /** Declares the recorded values of resources, where a place without a digest was written in plain text. */
  declareRecorded(find: (address: Address) => readonly JsonObject[]): void {
    this.#findRecorded = find;
  }

  /** Marks the places of the digests in recorded values. */
  record(address: Address, values: JsonObject): boolean {
    if (!hasDigest(values)) return false;
    this.#records.set(address, [...(this.#records.get(address) ?? []), values]);
    const places = this.#recordedPlaces(address);
    this.#addHolders(address, places, values);
    visitScalars(values, [], (value, path) => {
      if (hasDigest(value)) this.#add(address, places, path);
    });
    return true;
  }

  /** Marks the sensitive places of another declaration of a resource, such as that of a base. */
  alsoSensitive(address: Address, paths: readonly Path[]): void {
    const places = this.#recordedPlaces(address);
    for (const path of paths) this.#add(address, places, path);
  }

  /** Makes the values known, so that digests of them can be revealed. */
  learn(values: Json): void {
    visitScalars(values, [], (value) => this.#digests.learn(value));
  }

  /**
   * Hides strings and numbers of live or recorded values at sensitive places, also in other strings. `path`: where the values are in the resource. Entries
   * of a list move, so all are at a sensitive place if one is: what the spec, or the record of an object without a spec, has there in plain text is not hidden.
   */
  hide(
    address: Address,
    values: Json,
    { path = [], texts = this.texts }: { readonly path?: Path; readonly texts?: SensitiveTexts } = {},
  ): void {
    if (!this.hasPlaces(address)) return;
    const plain = lazily(() => this.#plainEntries(address));
    visitScalars(values, path, (value, at) => {
      if (value === SENSITIVE_TEXT || !this.#isPlace(address, at)) return;
      if (!isInList(at) || !plain().has(this.#entry(address, at, value))) texts.addValue(value);
    });
  }

  #plainEntries(address: Address): ReadonlySet<string> {
    const plain = new Set<string>();
    const declared = this.#declaredAt(address);
    for (const values of declared === undefined ? (this.#records.get(address) ?? []) : [declared.values])
      visitScalars(values, [], (value, path) => {
        const isPlain = declared === undefined ? !hasDigest(value) : !isIn(declared.written, path);
        if (isPlain && isInList(path)) plain.add(this.#entry(address, path, value));
      });
    return plain;
  }

  /** An entry of a list, wherever it is in the list. */
  #entry(address: Address, path: Path, value: Scalar): string {
    return `${toPointer(withoutIndexes(this.withoutHolder(address, path)))} ${value}`;
  }

  hasPlaces(address: Address): boolean {
    return this.#declared.get(address)?.hasPlaces === true || this.#recorded.get(address)?.isEmpty === false;
  }

  /** Whether a place is sensitive, or one of its values contains a sensitive text. */
  isSensitive(address: Address, path: Path, ...values: readonly (Json | undefined)[]): boolean {
    if (this.#isPlace(address, path)) return true;
    let hasText = false;
    for (const value of values)
      visitScalars(value ?? null, path, (scalar) => {
        hasText ||= typeof scalar === "string" && this.texts.isIn(scalar);
      });
    return hasText;
  }

  /** Whether a place of a resource is sensitive for its record, whatever the spec declares now. */
  isRecorded(address: Address, path: Path): boolean {
    const places = this.#recorded.get(address);
    return places !== undefined && hasPlace(places, this.#placeOf(address, path));
  }

  /** The values with a digest in place of each sensitive one. `path`: where the value is in the resource. */
  conceal<T extends Json | undefined>(address: Address, value: T, purpose: Concealment, path: Path = []): T {
    if (value === undefined || value === null) return value;
    const original =
      typeof value === "object" && purpose !== "judged" ? this.#originals.get(value) : undefined;
    if (original !== undefined) return original as unknown as T;
    const hasPlaces = this.hasPlaces(address);
    // Most values have nothing to hide, and a search needs no paths and no copy.
    if (!hasPlaces && !this.#mayHide(value)) return value;
    const concealed = { shown: this.#forReaders, stored: this.#forRecord, judged: this.#forRules }[purpose];
    const concealScalar = (scalar: Scalar, at: Path): Scalar =>
      this.#digests.unknown(scalar) ??
      concealed.call(this, address, scalar, at, hasPlaces && this.#isPlace(address, at, purpose));
    const concealKey = (at: Path): string => {
      const key = String(this.concealedPath(address, at).at(-1));
      return key !== at.at(-1) && purpose === "judged" && this.#isWritten(address, at)
        ? String(at.at(-1))
        : key;
    };
    return changedScalars(
      value as Json,
      path,
      concealScalar,
      purpose === "stored" ? undefined : concealKey,
    ) as T;
  }

  /** Whether a value contains something that is hidden at any place. */
  #mayHide(value: Json): boolean {
    if (typeof value === "string")
      return this.#digests.unknown(value) !== undefined || this.texts.isIn(value) || hasDigest(value);
    if (Array.isArray(value)) return value.some((item: Json) => this.#mayHide(item));
    if (!isObject(value)) return false;
    for (const key in value) if (this.#mayHide(key) || this.#mayHide(value[key] ?? null)) return true;
    return false;
  }

  /** A path for readers: a key of an open map can contain a sensitive string, too. */
  concealedPath(address: Address, path: Path): Path {
    return path.map((key, at) => {
      if (at === 0 || typeof key === "number") return key;
      const masked = this.texts.masked(key, (part) => this.#digest(address, path.slice(0, at), part));
      return masked !== key && this.#isField(address, path.slice(0, at + 1)) ? key : masked;
    });
  }

  restoredPath(path: Path): Path {
    return path.map((key) =>
      typeof key === "string" ? String(this.#digests.revealed(key, (digest) => digest)) : key,
    );
  }

  /** A value for readers: a digest at a sensitive place, else the value without the strings of sensitive ones. */
  shown(address: Address, path: Path, value: Scalar, isPlace: boolean): Scalar {
    return this.#digests.unknown(value) ?? this.#forReaders(address, value, path, isPlace);
  }

  /** A digest in place of a value from which a sensitive one can be guessed, such as the SHA-256 of a content. */
  concealWhole(address: Address, value: string, path: Path): string {
    return hasDigest(value) ? value : this.#digest(address, path, value);
  }

  /** The values with those of this run in place of their digests; a digest of another value becomes something that equals nothing. */
  reveal<T extends Json | undefined>(value: T): T {
    if (!hasDigest(value)) return value;
    const revealed = changedScalars(value as Json, [], (scalar) =>
      this.#digests.revealed(scalar, (digest) => this.#digests.standIn(digest)),
    );
    if (isObject(revealed) && isObject(value as Json))
      this.#originals.set(revealed, value as unknown as JsonObject);
    return revealed as T;
  }

  /** The same for what was shown or saved; calls `missing` for a digest of another value, which stays. */
  restore<T extends Json | undefined>(value: T, missing: (path: Path) => void): T {
    if (!hasDigest(value)) return value;
    const restored = (scalar: Scalar, path: Path): Scalar =>
      this.#digests.revealed(scalar, (digest) => {
        missing(path);
        return digest;
      });
    return changedScalars(value as Json, [], restored, (path) =>
      String(restored(String(path.at(-1)), path)),
    ) as T;
  }

  /** Whether every digest in a value is one of a value that this run has. */
  knows(value: Json): boolean {
    return this.#digests.knows(value);
  }

  /**
   * An answer of the service about a resource, for readers: `(sensitive)` in place of the strings of sensitive values, and of everything
   * at a recorded place: an answer about a run or an event has the values of the resource deep inside.
   */
  maskedAnswer<T extends Json>(address: Address, answer: T): T {
    const recorded = this.#recordedPlaces(address);
    const isRecorded = (path: Path): boolean =>
      path.some((_, at) => recorded.hasAnywhere(this.#placeOf(address, path.slice(at))));
    // A former value, of which this run knows only the place, can have a copy in the same answer.
    const former = new SensitiveTexts();
    const plain = this.#plainEntries(address);
    visitScalars(answer, [], (value, path) => {
      if (typeof value !== "string" || value.length < SHORTEST_UNSURE_PART || !isRecorded(path)) return;
      if (!path.some((_, at) => plain.has(this.#entry(address, path.slice(at), value)))) former.add(value);
    });
    return changedScalars(answer, [], (value, path) => {
      if (isRecorded(path)) return SENSITIVE_TEXT;
      return typeof value === "string" ? former.masked(this.texts.masked(value)) : value;
    }) as T;
  }

  /** A copy for readers, without the strings of sensitive values: for sentences, in which no place is known. */
  masked<T>(value: T): T {
    return this.texts.maskedDeep(value);
  }

  /** The same for messages of this program, which may be shortened. */
  maskedMessages<T>(value: T): T {
    return this.texts.maskedMessages(value, this.#isFieldName);
  }

  /**
   * A masked message about a resource. A value that the spec names as possible is not searched elsewhere, so it is hidden here if a field of the resource
   * has it: the service can answer with what it was sent.
   */
  withoutSensitivePossibleValues(address: Address, masked: Diagnostic): Diagnostic {
    const choices = (this.#declared.get(address)?.sensitive ?? []).filter((text) =>
      this.texts.isPossibleValue(text),
    );
    if (choices.length === 0) return masked;
    const words = choices.map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
    const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${words})(?![\\p{L}\\p{N}_])`, "gu");
    const hidden = (text: string): string => text.replaceAll(pattern, SENSITIVE_TEXT);
    const { message, cause, hint } = masked;
    return { ...masked, message: hidden(message), cause: cause && hidden(cause), hint: hint && hidden(hint) };
  }

  /** A digest under the key of the state: who lacks the key cannot test a guess. */
  keyed(text: string): string {
    return this.#digests.keyed(text);
  }

  /** The part of a path that is the same in every form of the kind. */
  withoutHolder(address: Address, path: Path): Path {
    return path.slice(this.#placeOf(address, path).holder?.length ?? 0);
  }

  #add(address: Address, places: Places, path: Path): void {
    this.#hasPlaces = true;
    places.add(this.#placeOf(address, path));
  }

  #addHolders(address: Address, places: Places, values: JsonObject): void {
    visitScalars(values, [], (_, path) => places.addHolder(this.#placeOf(address, path)));
  }

  #recordedPlaces(address: Address): Places {
    const places = this.#recorded.get(address) ?? new Places();
    this.#recorded.set(address, places);
    return places;
  }

  #placesOf(address: Address): readonly Places[] {
    const declared = this.#declared.get(address);
    const recorded = this.#recorded.get(address);
    return [...(declared?.hasPlaces === true ? [declared.places()] : []), ...(recorded ? [recorded] : [])];
  }

  /** The state has the values that the spec declares at the paths of the spec. */
  #isPlace(address: Address, path: Path, purpose: Concealment = "shown"): boolean {
    const place = this.#placeOf(address, path);
    const isOfSpec = purpose === "stored" && this.#declaredAt(address)?.places().hasHolder(place) === true;
    return this.#placesOf(address).some((places) => (isOfSpec ? places.has(place) : hasPlace(places, place)));
  }

  #forReaders(address: Address, value: Scalar, path: Path, isPlace: boolean): Scalar {
    // What looks like a digest must not be taken for one later.
    if (isPlace || hasDigest(value)) return this.#digest(address, path, value);
    if (typeof value !== "string") return value;
    return this.texts.masked(value, (part) => this.#digest(address, path, part));
  }

  #forRules(address: Address, value: Scalar, path: Path, isPlace: boolean): Scalar {
    const wasOpen = !isPlace && this.#findRecorded(address).some((values) => valueAt(values, path) === value);
    return (wasOpen || this.#isOpen(address, value, path)) && !hasDigest(value)
      ? value
      : this.#forReaders(address, value, path, isPlace);
  }

  /** A value that the spec declares as not sensitive is stored in the clear, although it was sensitive before. */
  #forRecord(address: Address, value: Scalar, path: Path, isPlace: boolean): Scalar {
    const isSensitive = isPlace || (typeof value === "string" && this.texts.hasLong(value));
    if (!isSensitive && !hasDigest(value)) return value;
    return this.#isOpen(address, value, path) && !hasDigest(value)
      ? value
      : this.#digest(address, path, value);
  }

  #isOpen(address: Address, value: Scalar, path: Path): boolean {
    const declared = this.#declaredAt(address);
    if (declared === undefined) return false;
    const written = valueAt(declared.values, path);
    const open = written ?? valueAt(declared.form(), path);
    const isSensitive =
      written === undefined
        ? isIn(declared.unheld, this.withoutHolder(address, path))
        : isIn(declared.written, path);
    return !isSensitive && isScalar(open) && String(open) === String(value);
  }

  /** Whether the spec or the record has a member at a path, in plain text. */
  #isWritten(address: Address, path: Path): boolean {
    const declared = this.#declaredAt(address);
    const written = declared === undefined ? [] : [declared.values, declared.form()];
    return [...written, ...this.#findRecorded(address)].some((values) => valueAt(values, path) !== undefined);
  }

  #digest(address: Address, path: Path, value: Scalar): string {
    return this.#digests.digestOf(address, this.#ignoresIndexes ? withoutIndexes(path) : path, value);
  }
}

const isInList = (path: Path): boolean => path.some((key) => typeof key === "number");
