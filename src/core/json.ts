// JSON values as types; an INT64 beyond 2^53 is a bigint, so that no digit is lost.

export type Json = string | number | bigint | boolean | null | JsonArray | JsonObject;
export type JsonArray = readonly Json[];
export type JsonObject = { readonly [key: string]: Json };
