// Part A of the contract about contents: workspace objects, the file system, and what holds for all of part A.

import { section } from "./section.ts";

const RESOURCES = [
  section("A2.6", "Workspace object", {
    object_type: { "NOTEBOOK, with its language": /a notebook/, DIRECTORY: /DIRECTORY/, LIBRARY: /LIBRARY/ },
    object_id: "INT64, unique",
    path: "absolute",
    language: {
      "only of a notebook": /tells its language|no language/,
      "SCALA, PYTHON, SQL, R": /is unknown/,
    },
    ExportFormat: {
      "SOURCE, HTML, JUPYTER, DBC": /every format/,
      "case sensitive": /case sensitive/,
      "DBC is the only one for directories": /directories/,
    },
  }),
  section("A2.8", "File information", {
    path: "absolute path of the file or directory",
    is_dir: "true for a directory",
    file_size: { "length in bytes": /its length/, "zero for a directory": /zero/ },
  }),
];

const WORKSPACE = section(
  "A4.4",
  "Workspace objects",
  {
    size: "a request has at most 10 MB",
    delete: {
      "path is required, absolute": /path/,
      "recursive is a BOOL, false by default": /BOOL|recursive/,
      "answers an empty object": /empty object/,
    },
    export: {
      "path is required, absolute": /path/,
      "format is SOURCE by default": /unless said otherwise/,
      "answers content as base64": /answers JSON/,
      "direct_download true answers the exported file itself": /the file .* itself/,
    },
    "get-status": { "path is required, absolute": /path is|absolute/, "answers ObjectInfo": /ObjectInfo/ },
    import: {
      "path is required, absolute": /path is/,
      "format is SOURCE by default": /unless said otherwise/,
      "language is required when the format is SOURCE": /without a language/,
      "language is ignored otherwise": /language is ignored/,
      "content is base64": /not base64/,
      "content may be absent when a file is posted": /posted file/,
      "overwrite is a BOOL, false by default": /overwrite/,
      "answers an empty object": /empty object/,
    },
    list: {
      "path is required, absolute": /path is|absolute/,
      "objects: list of ObjectInfo": /each as ObjectInfo/,
      "for a path of another object, that object": /the object itself/,
    },
    mkdirs: { "path is required, absolute": /path is/, "answers an empty object": /empty object/ },
    "rule 1": {
      "delete of a missing path gives RESOURCE_DOES_NOT_EXIST": /missing path/,
      "of a non-empty directory without recursive DIRECTORY_NOT_EMPTY": /stays/,
      "deletion cannot be undone; with recursive all that is in a directory goes": /takes all/,
    },
    "rule 2": {
      "export of a missing path gives RESOURCE_DOES_NOT_EXIST": /missing path/,
      "a directory is exported only as DBC": /a folder cannot be exported/,
      "and so with all that is in it": /all that is in it/,
      "above 10 MB gives MAX_NOTEBOOK_SIZE_EXCEEDED": /larger than 10 MB/,
      "libraries cannot be exported": /a library cannot/,
    },
    "rule 3": {
      "import over an existing path without overwrite gives RESOURCE_ALREADY_EXISTS": /what exists stays/,
      "directories are imported as DBC": /imported as DBC/,
      "and only so": /only as DBC/,
      "overwrite is not supported for DBC": /not supported/,
      "above 10 MB gives MAX_NOTEBOOK_SIZE_EXCEEDED": /10 MB/,
      "a multipart form with path, format, language, overwrite and a file content is accepted": /multipart/,
    },
    "rule 4": {
      "list of a missing path gives RESOURCE_DOES_NOT_EXIST": /list of a missing|list.* missing/,
      "get-status of a missing path gives RESOURCE_DOES_NOT_EXIST": /get-status.* missing/,
    },
    "rule 5": {
      "mkdirs creates missing parents": /creates missing parents/,
      "an existing directory is a successful no-op": /does nothing/,
      "anything else at the path gives RESOURCE_ALREADY_EXISTS": /over a notebook/,
      "so at any prefix of the path": /through a notebook/,
    },
  },
  {
    open: {
      conversion: ["import in one format, export in another", "every pair works: the cells are the same"],
      parent: ["import below a missing directory", "RESOURCE_DOES_NOT_EXIST; import makes no directories"],
      archives: [
        "what an archive may hold",
        "notebooks and folders; an archive that expands too far, or with a path outside, is refused completely",
      ],
      "new workspace": [
        "what a new workspace holds",
        "/, /Shared, /Users and the administrator's folder, which cannot be deleted",
      ],
      "empty list": ["list of an empty directory", "an object without the key"],
      names: ["names in paths", "case-sensitive, any characters; a slash at the end is dropped"],
    },
    told: {
      "partial delete": [
        "a recursive deletion may stop part-way",
        "here it is one step: all goes or nothing",
      ],
      "partial mkdirs": ["a failed mkdirs may leave parents", "here it leaves none"],
    },
  },
);

const FILES = section(
  "A4.5",
  "File system",
  {
    "add-block": { "handle and data are required": /requires/, "appends the block": /appends|append/ },
    close: { "handle is required": /requires/, "finishes the upload": /finish|file/ },
    create: { "path is required": /requires/, "answers a handle": /handle/ },
    delete: { "path is required": /requires/, "a file goes": /a file goes/ },
    "get-status": { "path is required": /requires/, "path, is_dir, file_size": /directory/ },
    list: { "path is required": /requires/, "files: list of FileInfo": /FileInfo/ },
    mkdirs: { "path is required": /requires/ },
    move: {
      "source_path and destination_path are required": /requires/,
      "what was at the one is at the other": /has its new path/,
    },
    put: {
      "path is required": /requires/,
      "contents may be absent when a file is posted": /posted file/,
      "overwrite replaces": /overwrite replaces/,
      "answers an empty object": /empty object/,
    },
    read: {
      "path is required": /requires/,
      "offset and length are INT64 bytes": /INT64|a range/,
      "bytes_read counts before encoding, data is base64": /bytes_read/,
    },
    "rule 1": {
      "create, add-block and close write a file": /block by block/,
      "a handle has 10 minutes of idle time": /10 minutes/,
    },
    "rule 2": {
      "put accepts a multipart form with a file": /form with a file/,
      "a form field that holds base64": /field that holds base64/,
      "a JSON body": /JSON body/,
    },
    "rule 3": {
      "an unknown handle gives RESOURCE_DOES_NOT_EXIST": /unknown/,
      "a block above 1 MB gives MAX_BLOCK_SIZE_EXCEEDED": /block of exactly 1 MB/,
      "a put above 1 MB gives MAX_BLOCK_SIZE_EXCEEDED": /put takes exactly 1 MB/,
    },
    "rule 4": "create over a file or directory without overwrite gives RESOURCE_ALREADY_EXISTS",
    "rule 5": {
      "delete of a non-empty directory without recursive gives IO_ERROR": /stays/,
      "an empty directory can be deleted without recursive": /an empty directory/,
    },
    "rule 6": {
      "get-status of a missing path gives RESOURCE_DOES_NOT_EXIST": /get-status.* missing/,
      "list of a missing path gives RESOURCE_DOES_NOT_EXIST": /list.* missing/,
    },
    "rule 7": {
      "mkdirs creates missing parents": /creates missing parents/,
      "a file at a prefix of the path gives RESOURCE_ALREADY_EXISTS": /a file at a prefix/,
    },
    "rule 8": {
      "a missing source gives RESOURCE_DOES_NOT_EXIST": /missing source/,
      "a file at the destination gives RESOURCE_ALREADY_EXISTS": /a file at the destination/,
      "a directory is moved with all that is in it": /with all that is in it/,
    },
    "rule 9": {
      "a missing file gives RESOURCE_DOES_NOT_EXIST": /missing file/,
      "a directory gives INVALID_PARAMETER_VALUE": /a directory/,
      "a negative length or offset gives INVALID_PARAMETER_VALUE": /negative/,
      "a length above 1 MB gives MAX_READ_SIZE_EXCEEDED": /1 MB/,
      "a range that passes the end is read to the end": /passes the end/,
    },
  },
  {
    open: {
      answers: ["answers of the write calls", "200 with an empty object"],
      "missing path": ["delete of a missing path", "no error"],
      visibility: [
        "when an upload is seen",
        "at close, not before; an old file can be read whole until then",
      ],
      parents: ["put, create and move below a missing directory", "the directories are made"],
      "empty list": ["list of an empty directory", "an object without the key"],
      scheme: ["fs: before a path", "accepted, and left out of answers"],
      "move target": [
        "move onto a directory, or into itself",
        "RESOURCE_ALREADY_EXISTS, INVALID_PARAMETER_VALUE",
      ],
      "offset at the end": [
        "an offset at or behind the end",
        "at it nothing is read, behind it INVALID_PARAMETER_VALUE",
      ],
      root: ["delete and move of the root", "IO_ERROR, INVALID_PARAMETER_VALUE"],
      modification_time: ["when a file was written", "answered in addition to the fields of the contract"],
    },
    told: {
      "large files": ["for larger files use the stream workflow", "what a client does"],
      "partial mkdirs": ["a failed mkdirs may leave parents", "here it leaves none"],
    },
  },
);

const ACCESS = [
  section(
    "A5",
    "Authentication",
    {
      "rule 1": {
        "every call carries Authorization": /without credentials/,
        "as Bearer and an access token": /bearer form/,
      },
      "rule 2": "HTTP Basic with token:<ACCESS_TOKEN> is accepted",
      "rule 3": {
        "SCIM is for administrators": /SCIM is for/,
        "legacy groups are for administrators": /groups\/.* is for administrators/,
      },
      "rule 4": "a deprovisioned user no longer has access, not even as administrator",
      "rule 5": "secrets need the permissions of 4.3",
    },
    {
      open: {
        "rule 6": ["endpoints that issue tokens", "none; the control request tokens gives them"],
        "rule 7": ["access to workspace objects and files", "everyone who has a token"],
        refusals: ["answers without or with a wrong token", "401 and 403, with a number as error_code"],
        administrators: ["who is an administrator", "members of the group admins, also through groups in it"],
      },
    },
  ),
  section("A6", "Events of part A", {}, { open: { events: ["events", "none"] } }),
];

const ERRORS = section(
  "A7",
  "Errors of part A",
  {
    form: "an error carries error_code and message",
    RESOURCE_ALREADY_EXISTS: {
      "the scope name exists": /scope name/,
      "the group name exists": /existing name/,
      "the workspace path exists, without overwrite": /import without/,
      "the file path exists, without overwrite": /create without/,
      "the target of a move exists": /move target/,
      "mkdirs is blocked by something else": /workspace\/mkdirs/,
      "also in the file system": /fs\/mkdirs/,
    },
    RESOURCE_LIMIT_EXCEEDED: { "too many scopes": /scopes/, "too many secrets in a scope": /secrets/ },
    INVALID_PARAMETER_VALUE: {
      "invalid scope name": /scope name/,
      "invalid secret key": /secret key/,
      "invalid length of a value": /value/,
      "invalid ACL permission": /permission/,
      "bad arguments of a file read": /file read/,
    },
    RESOURCE_DOES_NOT_EXIST: {
      "missing scope": /scope/,
      "missing secret": /secret/,
      "missing principal": /a principal that/,
      "missing ACL": /ACL/,
      "missing group": /group/,
      "missing user": /user/,
      "missing workspace path": /workspace path/,
      "missing file path": /file path/,
      "missing handle": /handle/,
    },
    PERMISSION_DENIED: "the caller lacks the permission that a secrets call needs",
    DIRECTORY_NOT_EMPTY: "workspace delete of a non-empty directory without recursive",
    MAX_NOTEBOOK_SIZE_EXCEEDED: {
      "import above 10 MB": /import above/,
      "export above 10 MB": /export above/,
    },
    MAX_BLOCK_SIZE_EXCEEDED: { "add-block above 1 MB": /add-block/, "put above 1 MB": /put/ },
    MAX_READ_SIZE_EXCEEDED: "file read length above 1 MB",
    IO_ERROR: "file delete of a non-empty directory without recursive",
  },
  {
    open: {
      statuses: [
        "HTTP status of each code",
        "404 for RESOURCE_DOES_NOT_EXIST, 403 for PERMISSION_DENIED, 400 for the others",
      ],
      "SCIM errors": ["errors of SCIM", "schemas, detail, status and scimType as RFC 7644 has them"],
      "other codes": [
        "what else can be wrong",
        "MALFORMED_REQUEST (400) for what cannot be read, INVALID_PARAMETER_VALUE for a missing or wrong value, ENDPOINT_NOT_FOUND (404), REQUEST_TOO_LARGE (413)",
      ],
      "ACL exists": [
        "RESOURCE_ALREADY_EXISTS for an ACL that exists, against 4.3 rule 5",
        "rule 5 holds: acls/put overwrites",
      ],
    },
  },
);

const LIMITS = section(
  "A8",
  "Limits of part A",
  {
    limit: {
      "100 scopes": /100 scopes/,
      "1000 secrets in a scope": /1000 secrets/,
      "names of 128 alphanumerics, dashes, underscores, periods": /is a scope name/,
      "a secret's value has at most 128 KB": /128 KB/,
      "workspace requests: 10 MB": /workspace calls/,
      "import content: 10 MB": /is imported/,
      "export size: 10 MB": /export of exactly/,
      "add-block data: 1 MB": /block of exactly/,
      "put contents: 1 MB": /put takes exactly/,
      "read length: 1 MB": /read of exactly/,
      "read by default: 0.5 MB": /half a megabyte/,
      "upload handle: 10 minutes idle": /idle for 10 minutes/,
      "inactive user: purged after 30 days": /purged after 30 days/,
    },
  },
  {
    open: {
      units: [
        "what a MB is",
        "1,048,576 bytes, of the contents before encoding; content of an import in JSON as base64",
      ],
      rates: ["rate limits", "none"],
      "other requests": ["size of other requests", "10 MB; then 413"],
    },
  },
);

const VERSIONS = section(
  "A9",
  "Versions",
  {
    paths: "paths carry the version 2.0",
    SCIM: "SCIM is served under /api/2.0/preview/scim/v2",
  },
  { told: { deprecation: ["policy for old versions is not shown", "nothing to serve"] } },
);

export const files = [...RESOURCES, WORKSPACE, FILES, ...ACCESS, ERRORS, LIMITS, VERSIONS];
