// The values of sign-ins: their keys in profiles, their variables, and the sign-in method of each.

/** Values of more than one kind make a choice necessary, as in the vendor's tools. */
export type AuthKind = "pat" | "basic" | "oauth" | "azure" | "env-oidc" | "file-oidc" | "google";

interface Attribute {
  readonly own?: string;
  /** The variable of the vendor's tools. */
  readonly vendor?: string;
  readonly kind?: AuthKind;
}

/** By key of a profile, in `~/.workspacecfg` and in `~/.databrickscfg`. */
export const ATTRIBUTES = {
  host: { own: "WORKSPACE_HOST", vendor: "DATABRICKS_HOST" },
  auth_type: { own: "WORKSPACE_AUTH_TYPE", vendor: "DATABRICKS_AUTH_TYPE" },
  token: { own: "WORKSPACE_TOKEN", vendor: "DATABRICKS_TOKEN", kind: "pat" },
  username: { vendor: "DATABRICKS_USERNAME", kind: "basic" },
  password: { vendor: "DATABRICKS_PASSWORD", kind: "basic" },
  client_id: { own: "WORKSPACE_CLIENT_ID", vendor: "DATABRICKS_CLIENT_ID", kind: "oauth" },
  client_secret: { own: "WORKSPACE_CLIENT_SECRET", vendor: "DATABRICKS_CLIENT_SECRET", kind: "oauth" },
  audience: { vendor: "DATABRICKS_TOKEN_AUDIENCE" },
  oidc_token_env: { vendor: "DATABRICKS_OIDC_TOKEN_ENV", kind: "env-oidc" },
  databricks_id_token_filepath: { vendor: "DATABRICKS_OIDC_TOKEN_FILEPATH", kind: "file-oidc" },
  azure_workspace_resource_id: { vendor: "DATABRICKS_AZURE_RESOURCE_ID", kind: "azure" },
  azure_client_id: { vendor: "ARM_CLIENT_ID", kind: "azure" },
  azure_client_secret: { vendor: "ARM_CLIENT_SECRET", kind: "azure" },
  azure_tenant_id: { vendor: "ARM_TENANT_ID", kind: "azure" },
  azure_use_msi: { vendor: "ARM_USE_MSI", kind: "azure" },
  azure_environment: { vendor: "ARM_ENVIRONMENT" },
  google_service_account: { vendor: "DATABRICKS_GOOGLE_SERVICE_ACCOUNT", kind: "google" },
  google_credentials: { vendor: "GOOGLE_CREDENTIALS", kind: "google" },
} as const satisfies Readonly<Record<string, Attribute>>;

export type AttributeName = keyof typeof ATTRIBUTES;

export const ATTRIBUTE_NAMES = Object.keys(ATTRIBUTES) as readonly AttributeName[];

const attributeOf = (name: AttributeName): Attribute => ATTRIBUTES[name];

export const authKindOf = (name: AttributeName): AuthKind | undefined => attributeOf(name).kind;

export const variableOf = (name: AttributeName, family: Family): string | undefined =>
  family === "workspace" ? attributeOf(name).own : attributeOf(name).vendor;

/** This program's own variables and profiles, which come first, and those of the vendor's tools. */
export type Family = "workspace" | "databricks";

/** A value and where it was found: `DATABRICKS_TOKEN`, or `token in the profile DEFAULT of ~/.databrickscfg`. */
export interface SourcedValue {
  readonly value: string;
  readonly from: string;
}

export type SourcedValues = Readonly<Partial<Record<AttributeName, SourcedValue>>>;
