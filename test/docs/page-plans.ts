import type { PagePlan } from './run-page.ts';

const isReady = 'curl -sf localhost:8080/readyz >/dev/null';

/** True once a call waits for a person. */
const isHeld = `curl -s localhost:8080/deferrals | grep -q '"task_id"'`;

/** The refund agent, running, in its own folder. */
const refunds = `
export PATH="$PWD/bin:$PATH"
cp -r examples/refunds /srv-refunds 2>/dev/null || cp -r examples/refunds /tmp/refunds
cd /tmp/refunds
`;

const running = `${refunds}
holdpoint run > /tmp/agent.log 2>&1 &
for try in $(seq 400); do if ${isReady}; then break; fi; read -rt 0.05 <> <(:) || true; done
`;

/** What the pages need that is not written on them, and what of them cannot be run. */
export const pagePlans: Record<string, PagePlan> = {
  'README.md': {
    meanwhile: {
      'cp -r examples/refunds /tmp/refunds\nbin/holdpoint validate': isReady,
      'curl -s localhost:8080/tasks/send': isHeld,
    },
    skipped: {
      'npm ci && npm start': 'it installs packages',
      'bin/holdpoint try --slack-demo': 'it asks for answers on a terminal',
    },
  },
  'CONTRIBUTING.md': { skipped: { 'npm ci': 'it installs packages' } },
  'examples/refunds/README.md': {
    meanwhile: {
      'cp -r examples/refunds /tmp/refunds': isReady,
      'curl -s http://127.0.0.1:8080/tasks/send': isHeld,
    },
  },
  'docs/a2a.md': { before: running, meanwhile: {}, skipped: {} },
  'docs/agent-card.md': { before: running },
  'docs/audit-log.md': { before: running },
  'docs/configuration.md': { before: refunds },
  'docs/governance.md': { before: refunds },
  'docs/writing-tools.md': {
    meanwhile: {
      'NOTES_SIGNATURE=ann holdpoint run': isReady,
      'holdpoint task send --id clear-1': isHeld,
    },
  },
  'docs/telegram.md': {
    skipped: { "export TELEGRAM_BOT_TOKEN='<the token>'": 'it needs a bot of Telegram' },
  },
};
