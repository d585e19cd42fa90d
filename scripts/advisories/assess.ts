/** What is read of the JSON that `npm audit` prints. */
export interface AuditReport {
  /** Set if the advisories could not be fetched. */
  error?: object;
  message?: string;
  vulnerabilities?: Record<string, Vulnerability>;
}

interface Vulnerability {
  name: string;
  /** Advisories about the package; a name is another vulnerable package that it depends on. */
  via: (string | Advisory)[];
  /** Places in the lock file. */
  nodes: string[];
}

interface Advisory {
  title: string;
  url: string;
  severity: string;
  range: string;
}

/** An advisory that a person has reviewed and accepted until a date. */
export interface Exception {
  /** The end of its URL: `GHSA-…`. */
  advisory: string;
  reason: string;
  /** The last day, as `2027-01-31`. */
  until: string;
}

/** What the advisories mean for a release. */
export interface Assessment {
  /** Sentences, each of which stops a release. */
  failures: string[];
  /** Sentences about what does not stop it. */
  notes: string[];
}

/**
 * Assesses a report: an advisory of high or critical severity about a package that ships stops a release, unless it is
 * excepted on this day. An exception that has ended stops it as well.
 */
export function assess(
  { vulnerabilities = {} }: AuditReport,
  {
    shipped,
    exceptions,
    today,
  }: { shipped: ReadonlySet<string>; exceptions: readonly Exception[]; today: string },
): Assessment {
  const result: Assessment = { failures: [], notes: [] };
  for (const { advisory, until } of exceptions) {
    if (until >= today) continue;
    result.failures.push(
      `the exception for ${advisory} ended on ${until}; update the package, or review the exception`,
    );
  }
  for (const { name, via, nodes } of Object.values(vulnerabilities)) {
    const ships = nodes.some((place) => shipped.has(place));
    for (const advisory of via) {
      if (typeof advisory === 'string') continue;
      const { title, url, severity, range } = advisory;
      const where = ships ? 'ships' : 'for development only';
      const sentence = `${severity}: ${name} ${range} (${where}): ${title}, ${url}`;
      const exception = exceptions.find((one) => url.endsWith(`/${one.advisory}`));
      const isGrave = ships && (severity === 'high' || severity === 'critical');
      if (!isGrave) result.notes.push(sentence);
      else if (exception === undefined) result.failures.push(sentence);
      else result.notes.push(`${sentence}; excepted until ${exception.until}: ${exception.reason}`);
    }
  }
  return result;
}
