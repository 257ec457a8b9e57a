// Parses an HTTP response: the result of the request, or how the response violates the contract.

import { JsonTooDeep, parseJson } from "../../core/exact-json.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { ELLIPSIS, inOneLine } from "../../core/sentences.ts";
import { utf8Text } from "../../core/utf8.ts";
import { retryAfterMs } from "./retry-after.ts";
import { type HttpResponse, isCompressed } from "./transport.ts";

/** `plain`: not an error body of the contract (an HTML page, another JSON object). */
type ErrorForm = "api" | "scim" | "plain";

export interface ErrorAnswer {
  readonly end: "error";
  readonly status: number;
  readonly form: ErrorForm;
  /** `error_code`, or SCIM's `scimType`; gateways send numbers, which become text. Empty where there is none. */
  readonly code: string;
  /** The service's own words, which may repeat a token or a secret. */
  readonly message: string;
  readonly retryAfterMs?: number;
}
/** A status of success whose body is not a JSON object. */
export interface MalformedAnswer {
  readonly end: "garbled";
  readonly status: number;
  readonly what:
    | "empty"
    | "HTML"
    | "not JSON"
    | "not a JSON object"
    | "not UTF-8"
    | "nested too deeply"
    | "compressed";
}
export interface RedirectAnswer {
  readonly end: "redirect";
  readonly status: number;
  readonly location: string;
}
export type ApiAnswer =
  | { readonly end: "ok"; readonly json: JsonObject }
  | ErrorAnswer
  | MalformedAnswer
  | RedirectAnswer;

const NOTHING: JsonObject = {};
const TOO_DEEP = Symbol("nested too deeply");
const LONGEST_PAGE = 20_000;

/** `now`: epoch milliseconds. Only a write can end without a body: a list that a proxy answers with 204 is not an empty list. */
export function parseAnswer(method: string, response: HttpResponse, now: number): ApiAnswer {
  const { status } = response;
  if (status === 204 && method !== "GET") return { end: "ok", json: NOTHING };
  const text = textOf(response.body);
  if (status >= 200 && status < 300)
    return isCompressed(response.headers)
      ? { end: "garbled", status, what: "compressed" }
      : success(status, text);
  if (status >= 300 && status < 400 && status !== 304)
    return { end: "redirect", status, location: response.headers.location ?? "" };
  const wait = retryAfterMs(response.headers, now);
  return { end: "error", status, ...errorBody(text), retryAfterMs: wait };
}

function success(status: number, text: string | undefined): ApiAnswer {
  const garbled = (what: MalformedAnswer["what"]): MalformedAnswer => ({ end: "garbled", status, what });
  if (text === undefined) return garbled("not UTF-8");
  if (text.trim() === "") return garbled("empty");
  const json = jsonOf(text);
  if (json === TOO_DEEP) return garbled("nested too deeply");
  if (json === undefined) return garbled(looksLikeHtml(text) ? "HTML" : "not JSON");
  return isObject(json) ? { end: "ok", json } : garbled("not a JSON object");
}

function errorBody(text: string | undefined): Pick<ErrorAnswer, "form" | "code" | "message"> {
  const json = text === undefined ? undefined : jsonOf(text);
  if (json === TOO_DEEP) return { form: "plain", code: "", message: "nested too deeply" };
  if (json === undefined || !isObject(json))
    return { form: "plain", code: "", message: plainText(text ?? "") };
  const { error_code, message, detail, scimType, schemas } = json;
  if (typeof error_code === "string" || typeof error_code === "number")
    return { form: "api", code: `${error_code}`, message: wordsOf(message) };
  if (
    Array.isArray(schemas) &&
    schemas.some((schema) => typeof schema === "string" && schema.endsWith(":Error"))
  )
    return { form: "scim", code: wordsOf(scimType), message: wordsOf(detail) };
  return { form: "plain", code: "", message: wordsOf(message) || wordsOf(json.error) };
}

/** A body that is not UTF-8 gives undefined. */
function textOf(body: string | Uint8Array): string | undefined {
  return typeof body === "string" ? body : utf8Text(body);
}

function jsonOf(text: string): Json | typeof TOO_DEEP | undefined {
  try {
    return parseJson(text);
  } catch (problem) {
    return problem instanceof JsonTooDeep ? TOO_DEEP : undefined;
  }
}

function looksLikeHtml(text: string): boolean {
  return /^\s*</.test(text);
}

/** Only tags of HTML: what else is between brackets can be a part of a sensitive value, which could not be recognized without it. */
const TAGS =
  /<(?:!doctype|!--[\s\S]*?--|\/?(?:a|abbr|address|article|b|body|br|button|center|code|dd|div|dl|dt|em|font|footer|form|h[1-6]|head|header|hr|html|i|img|input|label|li|link|main|meta|nav|ol|p|pre|section|small|span|strong|svg|table|tbody|td|th|thead|title|tr|tt|u|ul)(?=[\s/>]))[^>]*>/gi;

/** The text of an HTML page: proxies report errors in HTML. */
export function plainText(text: string): string {
  if (!looksLikeHtml(text)) return text.trim();
  const words = inOneLine(
    text
      .slice(0, LONGEST_PAGE)
      .replaceAll(/<(script|style)[\s\S]*?<\/\1>/gi, " ")
      .replaceAll(TAGS, " "),
  );
  // The last word may be a part of a token.
  return text.length > LONGEST_PAGE ? `${words.slice(0, words.lastIndexOf(" ") + 1)}${ELLIPSIS}` : words;
}

/** Some services send the string "null" instead of nothing. */
function wordsOf(value: Json | undefined): string {
  return typeof value === "string" && value !== "null" ? value : "";
}
