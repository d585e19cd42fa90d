import type { DeferralJson } from '../../../http/wire/dashboard/held-call-json.ts';
import { hrefOf } from './route.ts';
import type { WorkspaceStore } from './workspace.ts';

/** Returns the permission for notifications; `denied` if the browser does not support them. */
export function mayNotify(): NotificationPermission {
  return 'Notification' in globalThis ? Notification.permission : 'denied';
}

/**
 * Shows a notification for each new waiting call while the page is not visible. It contains the tool and the agent, and
 * no text from a model. Tabs share one notification per call, because the call's ID is its tag.
 */
export function notifyOfWaits(workspace: WorkspaceStore): void {
  let known: Set<string> | null = null;
  workspace.subscribe(({ context: { deferrals } }) => {
    if (deferrals === null) return;
    const news = known === null ? [] : deferrals.filter(({ id }) => known?.has(id) !== true);
    known = new Set(deferrals.map(({ id }) => id));
    if (document.visibilityState === 'visible' || mayNotify() !== 'granted') return;
    // Limits the notifications for many new calls at once.
    for (const deferral of news.slice(0, 3)) show(deferral);
  });
}

function show({ id, tool, agent_id, task_id }: DeferralJson): void {
  const notification = new Notification(`${tool} needs approval`, {
    body: `Approval needed: ${agent_id}`,
    tag: id,
  });
  notification.addEventListener('click', () => {
    focus();
    location.hash = hrefOf('approvals', agent_id, task_id);
    notification.close();
  });
}
