import { mount } from 'svelte';
import App from './shell/app.svelte';
import { type DashboardParts, startDashboard } from './start-dashboard.ts';

/** Mounts the page once the document has been parsed. */
export async function begin(parts: DashboardParts): Promise<void> {
  if (document.readyState === 'loading') {
    await new Promise((resolve) => document.addEventListener('DOMContentLoaded', resolve));
  }
  const target = document.querySelector('#app');
  if (target === null) throw new Error('index.html has no element #app');
  mount(App, { target, props: { dashboard: startDashboard(parts) } });
}
