import type { OverviewDayJson, OverviewJson } from '../../src/http/wire/dashboard/overview-json.ts';

/** Returns the figures of a day; nobody decided unless `differing` differs. */
export function anOverviewDay(differing: Partial<OverviewDayJson> = {}): OverviewDayJson {
  return {
    ...{ day: '2026-11-29', approved: 0, changed: 0, rejected: 0, expired: 0, failed: 0 },
    ...{ p50_ms: null, p95_ms: null },
    ...differing,
  };
}

/** Returns an overview of a workspace in which nothing happened. */
export function anOverview(differing: Partial<OverviewJson> = {}): OverviewJson {
  return {
    ...{ from: '2026-11-28T12:00:00.000Z', to: '2026-11-29T12:00:00.000Z', zone: 'UTC' },
    ...{
      days: [anOverviewDay({ day: '2026-11-28' }), anOverviewDay()],
      p50_ms: null,
      p95_ms: null,
    },
    ...{ people: [], failures: [], agents: [], unread: [] },
    ...differing,
  };
}
