// Replaces the parts of an output that differ from run to run: the folder, the port, IDs, times, digests.

export const SHOWN_URL = "http://workspace.test";

export function stable(text: string, folder: string, url: string): string {
  return (
    text
      .replaceAll(url, SHOWN_URL)
      .replaceAll(folder, "/here")
      .replace(/\b\d{4}-\d{6}-[a-z]+\d+(-pool-[0-9a-f]+)?\b/g, "ID")
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "TIME")
      .replace(/\d{4}-\d\d-\d\dT\d\d&#58;\d\d&#58;\d\d(\.\d+)?Z/g, "TIME")
      .replace(/\b1\d{12}\b/g, "TIME")
      .replace(/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b/g, "TIME")
      .replace(/^run \d+: (PENDING|RUNNING|TERMINATING).*\n/gm, "")
      .replace(/^clusters\.[\w-]+: (PENDING|RESTARTING|RESIZING|TERMINATING)\b.*\n/gm, "")
      .replace(/("(?:setup|execution|cleanup|run)_duration": )\d+/g, "$1N")
      .replace(/("spark_context_id": ")\d+/g, "$1ID")
      .replace(/\b\d+\.\d s\b/g, "N s")
      .replace(/\b(in|after) \d+(\.\d+)? (s|min)\b( \d+ s)?/g, "$1 N s")
      // Starting an emulated cluster takes measurable time on a busy machine only.
      .replace(/^waiting: clusters\..* RUNNING or TERMINATED\n/gm, "")
      .replaceAll("N s to set up, ", "")
      .replace(/^(.*CANCELED after N s): .*$/gm, "$1")
      .replace(/(last heartbeat) \d+ s/g, "$1 N s")
      .replace(/\b\d+ attempts/g, "N attempts")
      .replace(/\btime="(?!0\.000)\d+\.\d{3}"/g, 'time="N"')
      .replace(/("(?:elapsed|duration|age|drift_age|lock_wait)_s": ?)\d+(\.\d+)?/g, "$10")
      .replace(/\b[\w.-]+@[\w.-]+ \(process \d+\)/g, "USER@MACHINE (process N)")
      .replace(/\b(unlock) [0-9a-f]{16}\b/g, "$1 NONCE")
      .replace(/\(replaced [0-9a-f]{6}\)/g, "(replaced TOKEN)")
      .replace(/\b[0-9a-f]{32,64}\b/g, "DIGEST")
      .replace(/\bplan [0-9a-f]{12}\b/g, "plan DIGEST")
  );
}
