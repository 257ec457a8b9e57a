// Makes a plan for review: without the lock, compared with the base, and with the authors of drift.

import { failureOf } from "../../core/diagnostic.ts";
import type { Budget } from "../../engine/observe/readers.ts";
import type { State } from "../../state/model/record.ts";
import { withOrigins } from "../drift/drift.ts";
import type { Session } from "../session/session.ts";
import { assertStateExists, ephemeralState, otherTarget, untrustedState } from "../session/state-warnings.ts";
import { type BaseOptions, readBase } from "./base-spec.ts";
import { placesIn } from "./located.ts";
import type { PlanOrigin } from "./plan-file.ts";
import type { OfflinePlan } from "./plan-offline.ts";
import { type PlanOptions, planSession } from "./plan-session.ts";

export interface ReviewOptions extends BaseOptions, Pick<PlanOptions, "adopt" | "allowDuplicates" | "only"> {
  readonly destroy: boolean;
  readonly exitcodeFor: "all" | "change";
  readonly untrusted: boolean;
  readonly offline: boolean;
  readonly out: string | undefined;
  readonly maxReads: number | undefined;
}

/** A plan of the spec against the workspace, without a base and without a file. */
export const PLAIN_REVIEW = {
  base: undefined,
  baseRef: undefined,
  destroy: false,
  exitcodeFor: "all",
  offline: false,
  out: undefined,
} as const;

export interface ReviewedPlan extends OfflinePlan {
  /** A saved plan is valid for this state only. */
  readonly origin: PlanOrigin;
}

export async function planForReview(session: Session, options: ReviewOptions): Promise<ReviewedPlan> {
  const { invocation, settings, secretDigest, spec, warnings } = session;
  const { destroy, untrusted } = options;
  const loaded = await session.readState();
  const { state, diagnostics } = loaded;
  if (destroy) assertStateExists(session.store, state, "nothing can be destroyed");
  const unread = untrusted ? untrustedState(invocation, state) : [];
  const base = await readBase(invocation, options, destroy || untrusted ? undefined : secretDigest);
  const planned = await planSession(session, state, {
    ...options,
    ...(untrusted ? { budget: budgetFor(state, options.maxReads) } : {}),
    base,
    mayLackSecrets: !destroy,
    checksRules: true,
  });
  const recovered = planned.recovered.state;
  const drift = untrusted
    ? planned.plan.drift
    : await session.readLimit.during(() =>
        withOrigins(planned.plan.drift, recovered, session.connection.reader),
      );
  return {
    plan: { ...planned.plan, drift },
    places: placesIn(spec.resources),
    diagnostics: [
      ...diagnostics,
      ...planned.diagnostics,
      ...unread,
      ...ephemeralState(invocation, settings.place.embedded, state),
      ...otherTarget(spec, state),
    ],
    warnings,
    origin: { loaded, recovered },
  };
}

/** Managed resources are read in any case; this limits what an untrusted spec adds. */
function budgetFor(state: State, limit: number | undefined): Budget {
  const reads = limit ?? 500 + 5 * state.records.size;
  return { reads, characters: 64 * 1024 * 1024 + reads * 64 * 1024 };
}

/** Only a plan of the whole workspace and of a trusted spec can be saved or adopt objects. Throws Failure with CLI_USAGE. */
export function assertReviewable(options: ReviewOptions): void {
  const mode = options.untrusted ? "--untrusted" : options.offline ? "--offline" : undefined;
  const other = options.out !== undefined ? "--out" : options.adopt ? "--adopt" : undefined;
  if (mode !== undefined && other !== undefined)
    throw failureOf("CLI_USAGE", `${mode} and ${other} cannot be used together`, {
      hint: `remove ${other}, or plan without ${mode}`,
    });
  const base = options.base ?? options.baseRef;
  if (options.destroy && base !== undefined)
    throw failureOf("CLI_USAGE", "--destroy cannot be used together with --base or --base-ref");
  if (options.exitcodeFor === "change" && base === undefined)
    throw failureOf("CLI_USAGE", "--exitcode-for change needs --base or --base-ref");
  if (options.maxReads !== undefined && !options.untrusted)
    throw failureOf("CLI_USAGE", "--max-reads requires --untrusted");
}
