import type { Notify, NotifySettings } from '../actors/process/process.ts';
import type { Agent } from '../agent/start/start-agent.ts';

type Health = Awaited<ReturnType<Agent['health']>>;

/** Default interval in milliseconds between checks of the pending calls, unless systemd requires shorter ones. */
const usualPause = 60_000;

/**
 * Notifies systemd of readiness, of the number of pending calls and, while the store is readable, of the watchdog
 * keep-alive. Returns a function that announces the stop. A hung process sends no keep-alive, so systemd restarts it.
 */
export async function tellServiceManager(
  agent: Pick<Agent, 'url' | 'health'>,
  { settings, notify }: { settings: NotifySettings | null; notify: Notify },
): Promise<{ stopping: () => void; end: () => void }> {
  if (settings === null) return { stopping: () => undefined, end: () => undefined };
  const { watchdog } = settings;
  const sign = watchdog === null ? {} : { WATCHDOG: '1' };
  let said = '';
  let isStopping = false;
  const statusOf = ({ deferred, isWritable }: Health): { STATUS?: string } => {
    const waiting = deferred === 1 ? '1 call waits' : `${deferred} calls wait`;
    const standing = isWritable ? 'ready' : 'cannot record events, so it accepts no work,';
    const status = `${standing} at ${agent.url}, ${deferred === 0 ? 'nothing waits' : waiting} for a release`;
    if (status === said || isStopping) return {};
    said = status;
    return { STATUS: status };
  };
  const look = async (): Promise<void> => {
    const health = await healthOf(agent);
    if (health === null) return;
    const news = { ...sign, ...statusOf(health) };
    if (Object.keys(news).length > 0) void notify(news);
  };
  const atStart = (await healthOf(agent)) ?? { deferred: 0, isWritable: true };
  void notify({ READY: '1', ...sign, ...statusOf(atStart) });
  const pulse = setInterval(() => void look(), watchdog === null ? usualPause : watchdog / 2);
  return {
    stopping: () => {
      isStopping = true;
      void notify({ STOPPING: '1', ...sign, STATUS: 'cancelling running work' });
    },
    end: () => clearInterval(pulse),
  };
}

async function healthOf(agent: Pick<Agent, 'health'>): Promise<Health | null> {
  try {
    return await agent.health();
  } catch {
    return null;
  }
}
