import type { DashboardEvents } from '../../../../http/wire/dashboard/dashboard-events.ts';
import type { Dashboard } from '../../start-dashboard.ts';

/**
 * Reads data immediately and again after each relevant event, one read at a time. A change during a read triggers
 * another read. Also reads after a gap in the stream.
 */
export function keepReading(
  { workspace }: Pick<Dashboard, 'workspace'>,
  concerns: (event: DashboardEvents['task']) => boolean,
  read: (signal: AbortSignal) => Promise<void>,
): { now: () => void; stop: () => void } {
  const ended = new AbortController();
  let isReading = false;
  let isStale = false;

  async function now(): Promise<void> {
    isStale = true;
    if (isReading) return;
    isReading = true;
    while (isStale && !ended.signal.aborted) {
      isStale = false;
      await read(ended.signal);
    }
    isReading = false;
  }

  const ofTask = workspace.on('task', (event) => {
    if (concerns(event)) void now();
  });
  let about = workspace.getSnapshot().context.about;
  const ofAll = workspace.subscribe(({ context }) => {
    // `about` is replaced only when the workspace is reloaded after a gap in the stream.
    if (context.about === about) return;
    const isFirst = about === null;
    about = context.about;
    if (!isFirst) void now();
  });
  void now();
  return {
    now: () => void now(),
    stop: () => {
      ended.abort();
      ofTask.unsubscribe();
      ofAll.unsubscribe();
    },
  };
}
