const list = new Intl.ListFormat('en');

/** Lists the agents whose waiting calls are unknown, by ID. */
export function unaskedWords(agents: readonly string[]): string {
  const whose = agents.length === 1 ? 'it' : 'them';
  return `${list.format(agents)} did not say in time what waits in ${whose}, so calls may be missing here; ask again, or see the log of ${whose}.`;
}
