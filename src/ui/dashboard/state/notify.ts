import type { DeferralJson } from '../../../http/wire/dashboard/held-call-json.ts';
import { hrefOf } from './route.ts';
import type { WorkspaceStore } from './workspace.ts';

/** Whether this page may show notifications; `denied` where the browser has none. */
export function mayNotify(): NotificationPermission {
  return 'Notification' in globalThis ? Notification.permission : 'denied';
}

/**
 * Shows a notification for each call that begins to wait while nobody looks at the page. It names the tool and the agent,
 * and nothing that a model wrote. Tabs share one notification, as it has the id of the call.
 */
export function notifyOfWaits(workspace: WorkspaceStore): void {
  let known: Set<string> | null = null;
  workspace.subscribe(({ context: { deferrals } }) => {
    if (deferrals === null) return;
    const news = known === null ? [] : deferrals.filter(({ id }) => known?.has(id) !== true);
    known = new Set(deferrals.map(({ id }) => id));
    if (document.visibilityState === 'visible' || mayNotify() !== 'granted') return;
    // A flood is one piece of news.
    for (const deferral of news.slice(0, 3)) show(deferral);
  });
}

function show({ id, tool, agent_id, task_id }: DeferralJson): void {
  const notification = new Notification(`${tool} waits for a person`, {
    body: `An agent asks: ${agent_id}`,
    tag: id,
  });
  notification.addEventListener('click', () => {
    focus();
    location.hash = hrefOf('approvals', agent_id, task_id);
    notification.close();
  });
}
