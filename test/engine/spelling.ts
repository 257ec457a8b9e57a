// Specs and scenarios of the contract in the spelling of the Databricks dialect.

/** A spec or a scenario of the contract in the spelling of Databricks on Azure. */
export function inDatabricks(yaml: string): string {
  return yaml
    .replaceAll(/\bfs:/g, "dbfs:")
    .replaceAll(/\b(api (?:GET|POST) )fs\//g, "$1dbfs/")
    .replaceAll("/api/2.0/jobs/list", "/api/2.2/jobs/list")
    .replaceAll("cluster_log_conf.fs", "cluster_log_conf.dbfs")
    .replaceAll("cloud_disk_volume_type", "azure_disk_volume_type")
    .replaceAll("CLOUD_KEYVAULT", "AZURE_KEYVAULT")
    .replaceAll("backend_type: PLATFORM", "backend_type: DATABRICKS");
}
