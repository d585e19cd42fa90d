/** What becomes of unfinished tasks when an agent starts again: `on_restart` of its `service.yaml`. */
export type OnRestart = 'abandon' | 'resume';

/** What waits in an agent that is to be stopped. */
export interface WaitingAtStop {
  /** The id of the agent. */
  id: string;
  pending: number;
  onRestart: OnRestart;
}

/** Says what a stop or a restart does to the calls that wait in an agent; `null` when none waits. */
export function stopWords(
  verb: 'stop' | 'restart',
  { id, pending, onRestart }: WaitingAtStop,
): string | null {
  if (pending === 0) return null;
  const isOne = pending === 1;
  const waiting = `${isOne ? '1 call is' : `${pending} calls are`} waiting for approval.`;
  if (onRestart === 'abandon') {
    const doing = verb === 'stop' ? 'Stopping' : 'Restarting';
    return `${waiting} ${doing} ${id} denies ${isOne ? 'it' : 'them'}.`;
  }
  const them = isOne ? 'It keeps' : 'They keep';
  return `${waiting} ${them} waiting, and can be decided once ${id} runs again.`;
}

/** Says what becomes of the calls that waited in an agent that has been stopped; `pending` is not 0. */
export function stoppedWords({ id, pending, onRestart }: WaitingAtStop): string {
  const waited = pending === 1 ? '1 call was' : `${pending} calls were`;
  const end =
    onRestart === 'abandon'
      ? `${pending === 1 ? 'it is' : 'they are'} denied when ${id} starts again (on_restart: abandon)`
      : `${pending === 1 ? 'it waits' : 'they wait'} for ${id} to start again (on_restart: resume)`;
  return `${waited} waiting for approval; ${end}`;
}
