const list = new Intl.ListFormat('en');

/** Lists the agents whose waiting calls are unknown, by ID. */
export function unaskedWords(agents: readonly string[]): string {
  return `${list.format(agents)} did not respond, so some calls may be missing. Retry, or check the log.`;
}
