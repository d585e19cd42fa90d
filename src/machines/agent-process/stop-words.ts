/** What happens to unfinished tasks when an agent restarts: `on_restart` of its `service.yaml`. */
export type OnRestart = 'abandon' | 'resume';

/** The held calls of an agent that is about to stop. */
export interface WaitingAtStop {
  /** The id of the agent. */
  id: string;
  pending: number;
  onRestart: OnRestart;
}

/** Describes the effect of a stop or restart on an agent's held calls; `null` if there are none. */
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

/** Describes what happens to the held calls of a stopped agent; `pending` must not be 0. */
export function stoppedWords({ id, pending, onRestart }: WaitingAtStop): string {
  const waited = pending === 1 ? '1 call was' : `${pending} calls were`;
  const end =
    onRestart === 'abandon'
      ? `${pending === 1 ? 'it is' : 'they are'} denied when ${id} starts again (on_restart: abandon)`
      : `${pending === 1 ? 'it waits' : 'they wait'} for ${id} to start again (on_restart: resume)`;
  return `${waited} waiting for approval; ${end}`;
}
