/** The ranges of the overview. */
export const ranges = ['24h', '7d', '30d'] as const;
export type OverviewRange = (typeof ranges)[number];

/** The words of a range. */
export const rangeWords: Readonly<Record<OverviewRange, string>> = {
  '24h': '24 h',
  '7d': '7 days',
  '30d': '30 days',
};

/** What the overview shows; an empty agent means all. */
export interface OverviewQuery {
  range: OverviewRange;
  agent: string;
}

/** Reads what the overview shows from its address. */
export function readOverviewQuery(query: URLSearchParams): OverviewQuery {
  const range = ranges.find((one) => one === query.get('range')) ?? '7d';
  return { range, agent: query.get('agent') ?? '' };
}

/** Builds the address of the overview. */
export function hrefOfOverview({ range, agent }: OverviewQuery): string {
  const query = new URLSearchParams({
    ...(range === '7d' ? {} : { range }),
    ...(agent === '' ? {} : { agent }),
  });
  return query.size === 0 ? '#/overview' : `#/overview?${query.toString()}`;
}
