// Part B of the contract about events: the entries of a cluster's log, their types, and mails.

import { section } from "./section.ts";

export const events = [
  section(
    "B2.5",
    "Cluster event",
    {
      cluster_id: "which cluster",
      timestamp: "INT64, epoch milliseconds, assigned by the service",
      type: "one of the types of contract B 6",
      details: "always there",
      current_num_workers: "how many workers there are",
      target_num_workers: "how many there are to be",
      previous_attributes: "attributes before an edit",
      attributes: "attributes at creation and after an edit",
      previous_cluster_size: "size before",
      cluster_size: "size after",
      cause: "why a size changed",
      reason: "why it ended, or why nodes could not be acquired",
      user: "who acted; empty when the platform did",
    },
    {
      open: {
        ClusterSize: ["its shape", "num_workers or autoscale"],
        ResizeCause: ["its values", "USER_REQUEST, AUTOSCALE, AUTORECOVERY"],
      },
    },
  ),
  section(
    "B6",
    "Events of part B",
    {
      CREATING: "a cluster is created",
      STARTING: "a cluster is started",
      RESTARTING: "a cluster is restarted, by whom",
      TERMINATING: "a cluster is terminated, with reason.code and reason.parameters",
      EDITED: "a cluster is edited",
      RUNNING: "creation has finished, with node counts and why some are missing",
      RESIZING: "the target size changes, up or down",
      UPSIZE_COMPLETED: "nodes were added, with counts and why some are missing",
      NODES_LOST: "nodes were lost",
      DRIVER_HEALTHY: "the driver is healthy",
      DRIVER_UNAVAILABLE: "the driver is unavailable",
      DRIVER_NOT_RESPONDING: "the driver is up but does not respond",
      SPARK_EXCEPTION: "the driver threw an exception",
      DBFS_DOWN: "the file system is down",
      METASTORE_DOWN: "the metastore is down",
      INIT_SCRIPTS_STARTING: "an init script started",
      INIT_SCRIPTS_FINISHED: "an init script finished",
      DID_NOT_EXPAND_DISK: "a disk is low and may not grow further",
      EXPANDED_DISK: "a disk was expanded",
      FAILED_TO_EXPAND_DISK: "expanding a disk failed",
      AUTOSCALING_STATS_REPORT: "hourly report of an autoscaling cluster",
      NODE_BLACKLISTED: "a node was blacklisted",
      PINNED: "a cluster is pinned",
      UNPINNED: "a cluster is unpinned",
      "event log": "each cluster has one, ordered by timestamp",
      mails: {
        "when runs begin and complete": /begin/,
        "to the configured addresses when the job is deleted": /mails each/,
      },
    },
    {
      open: {
        webhooks: ["other notifications", "none"],
        reading: ["whether reading the log is a write", "it is not, and it has no effect"],
        "by control": ["when nodes, drivers and disks fail", "only on the control request cluster-events"],
        "no effect": ["what a call without effect writes", "nothing"],
      },
    },
  ),
];
