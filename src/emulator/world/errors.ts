// The errors that the service answers, each with its HTTP status (facts 4.1; contract A 7, contract B 7).

const STATUS = {
  ALREADY_EXISTS: 409,
  BAD_REQUEST: 400,
  DIRECTORY_NOT_EMPTY: 400,
  INTERNAL_ERROR: 500,
  INVALID_PARAMETER_VALUE: 400,
  INVALID_STATE: 400,
  IO_ERROR: 400,
  MALFORMED_REQUEST: 400,
  MAX_BLOCK_SIZE_EXCEEDED: 400,
  MAX_NOTEBOOK_SIZE_EXCEEDED: 400,
  MAX_READ_SIZE_EXCEEDED: 400,
  ENDPOINT_NOT_FOUND: 404,
  PERMISSION_DENIED: 403,
  QUOTA_EXCEEDED: 400,
  REQUEST_LIMIT_EXCEEDED: 429,
  REQUEST_TOO_LARGE: 413,
  RESOURCE_ALREADY_EXISTS: 400,
  RESOURCE_DOES_NOT_EXIST: 404,
  RESOURCE_LIMIT_EXCEEDED: 400,
} as const;

export type ErrorCode = keyof typeof STATUS;

/** Thrown by an operation; the app turns it into `{error_code, message}` with the code's status. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
    this.status = STATUS[code];
  }
}

const refusalOf =
  (code: ErrorCode) =>
  (message: string): ApiError =>
    new ApiError(code, message);

/** The most common refusal: a value that the field, or the call, does not take. */
export const invalidValue = refusalOf("INVALID_PARAMETER_VALUE");
export const badRequest = refusalOf("BAD_REQUEST");
export const malformed = refusalOf("MALFORMED_REQUEST");
export const notFound = refusalOf("RESOURCE_DOES_NOT_EXIST");
export const alreadyExists = refusalOf("RESOURCE_ALREADY_EXISTS");
export const invalidState = refusalOf("INVALID_STATE");
export const permissionDenied = refusalOf("PERMISSION_DENIED");

/** Thrown by a SCIM operation; the app turns it into the SCIM error body (RFC 7644, section 3.12). */
export class ScimError extends Error {
  readonly status: number;
  readonly scimType: string | undefined;
  constructor(status: number, message: string, scimType?: string) {
    super(message);
    this.status = status;
    this.scimType = scimType;
  }
}
