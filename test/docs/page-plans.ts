import type { PagePlan } from './run-page.ts';

const isReady = 'curl -sf localhost:8080/readyz >/dev/null';

/** True once a call waits for a person. */
const isHeld = `curl -s localhost:8080/deferrals | grep -q '"task_id"'`;

function until(condition: string): string {
  return `for try in $(seq 400); do if ${condition}; then break; fi; read -rt 0.05 <> <(:) || true; done`;
}

const onPath = 'export PATH="$PWD/bin:$PATH"';
const refunds = `${onPath}\ncp -r examples/refunds /tmp/refunds\ncd /tmp/refunds`;
const running = `${refunds}\nholdpoint run > /tmp/agent.log 2>&1 &\n${until(isReady)}`;

/** A refund that waits. */
function held(id: string): string {
  return `curl -s localhost:8080/tasks/send -H 'content-type: application/json' \\
  -d '{"id": "${id}", "message": {"parts": [{"kind": "text", "text": "Refund A-1042"}]}}' > /tmp/held.json &
${until(isHeld)}`;
}

/** The agent of this folder is stopped, as with Ctrl-C. */
const stopped = `pid=$(sed -n 's/.*"pid": *\\([0-9]*\\).*/\\1/p' .service/serve.json)
kill "$pid"
${until('! kill -0 "$pid" 2>/dev/null')}`;

/** An agent with a signed log on port 8080, and one with a log of more than one file that has a task called ID. */
const logs = `${onPath}
export SERVICE_AUDIT_SIGNING_KEY=$(holdpoint key generate --json | sed 's/.*"private_key":"\\([^"]*\\)".*/\\1/')
mkdir /tmp/signed /tmp/rotated
cd /tmp/signed
printf 'agent_id: signed\naudit: {signing: {enabled: true}}\n' > service.yaml
holdpoint run > /tmp/signed.log 2>&1 &
${until(isReady)}
cd /tmp/rotated
printf 'agent_id: rotated\naudit: {rotation: {max_bytes: 65536}}\n' > service.yaml
holdpoint run --port 8081 > /tmp/rotated.log 2>&1 &
${until('curl -sf localhost:8081/readyz >/dev/null')}
holdpoint task send --id ID hello
for task in $(seq 90); do
  curl -sf localhost:8081/tasks/send -H 'content-type: application/json' \\
    -d '{"message": {"parts": [{"kind": "text", "text": "hello"}]}}' > /dev/null
done
ls .service/audit-*.ndjson`;

/** A gate on port 8080, and a call that may run. */
const gate = `${onPath}
holdpoint init my-gate --gate --dir /tmp/my-gate
holdpoint run --dir /tmp/my-gate > /tmp/my-gate.log 2>&1 &
${until(isReady)}
ID=$(curl -s localhost:8080/holds -H 'Content-Type: application/json' \\
  -d '{"key": "1", "tool": "Bash", "args": {"command": "ls"}}' | sed 's/.*"hold_id":"\\([^"]*\\)".*/\\1/')`;

/** What the pages need that is not written on them, and what of them cannot be run. */
export const pagePlans: Record<string, PagePlan> = {
  'README.md': {
    meanwhile: {
      'cp -r examples/refunds /tmp/refunds\nbin/holdpoint validate': isReady,
      'curl -s localhost:8080/tasks/send': isHeld,
    },
    skipped: { 'npm ci && npm start': 'it installs packages' },
  },
  'CONTRIBUTING.md': { skipped: { 'npm ci': 'it installs packages' } },
  'examples/refunds/README.md': {
    meanwhile: {
      'cp -r examples/refunds /tmp/refunds': isReady,
      'curl -s http://127.0.0.1:8080/tasks/send': isHeld,
    },
  },
  'examples/gate/README.md': {
    before: onPath,
    meanwhile: { 'cp -r examples/gate /tmp/gate': isReady },
  },
  'docs/gate.md': { before: gate },
  'docs/recipes.md': { before: gate },
  'examples/releases/README.md': {
    skipped: {
      'npm install': 'it needs a registry',
      'bin/holdpoint task send --id n1': 'it needs the server that npm install brings',
    },
    meanwhile: {
      'bin/holdpoint validate --dir /tmp/releases': isReady,
      'bin/holdpoint task send --id r1': isHeld,
    },
  },
  'examples/testing/README.md': {
    skipped: {
      'npm install': 'it needs a registry; the test of the package runs what it installs',
    },
  },
  'docs/running.md': {
    before: refunds,
    skipped: { 'cp deploy/systemd': 'it needs systemd as the first process of the machine' },
  },
  'docs/dashboard.md': {
    skipped: {
      'holdpoint ui --demo': 'it serves until somebody ends it',
      'holdpoint ui --public-url': 'it serves until someone stops it',
      'curl -s -H "Authorization: Bearer $(cat .service/ui.token)"': 'it asks that dashboard',
      'holdpoint card check': 'it asks a host of the internet',
    },
  },
  'docs/a2a.md': {
    before: running.replace(
      'holdpoint run',
      `sed -i 's/^egress:/&\\n  allowed_domains: [hooks.example.com]/' service.yaml\nholdpoint run`,
    ),
    prepared: {
      'curl -s localhost:8080/ -H \'content-type: application/json\' -d \'{\n  "jsonrpc": "2.0", "id": 2': `${held('held')}\nID=held`,
    },
  },
  'docs/agent-card.md': { before: running },
  'docs/audit-log.md': { before: logs, prepared: { 'holdpoint audit keys': 'cd /tmp/signed' } },
  'docs/commands.md': { before: `${onPath}\nmkdir /tmp/agents\ncd /tmp/agents` },
  'docs/configuration.md': { before: refunds },
  'docs/debugging.md': {
    before: `${running}\n${held('r1')}`,
    prepared: {
      'holdpoint run --inspect': stopped,
      'holdpoint run --dir . 2>agent.log': stopped,
    },
    meanwhile: {
      'holdpoint run --inspect': isReady,
      'holdpoint run --dir . 2>agent.log': isReady,
    },
    skipped: {
      'node_modules/.bin/node --cpu-prof':
        'it names a folder of the reader, and runs until somebody stops it',
    },
  },
  'docs/embedding.md': {
    skipped: {
      'npm init': 'it needs a registry; the test of the package runs what it installs',
    },
  },
  'docs/governance.md': { before: refunds },
  'docs/approvals/platform-engineer.md': {
    before: `${running}\n${held('ID')}`,
    skipped: {
      'holdpoint task approve ID --remember': 'its rule lets no approval count for later calls',
    },
  },
  'docs/approvals/on-call.md': {
    before: running,
    skipped: { 'holdpoint delegate ann@example.com': 'ID is that of a delegation' },
  },
  'docs/approvals/auditor.md': {
    before: `${refunds}
export SERVICE_AUDIT_SIGNING_KEY=$(holdpoint key generate --json | sed 's/.*"private_key":"\\([^"]*\\)".*/\\1/')
printf '\\naudit: {signing: {enabled: true}}\\n' >> service.yaml
holdpoint run > /tmp/agent.log 2>&1 &
${until(isReady)}
${held('r1')}
holdpoint task approve r1 --email ann@example.com
wait %2`,
  },
  'docs/models.md': {
    skipped: {
      'mkdir /tmp/helper': 'it needs the key of a provider',
      'holdpoint task send "What time': 'it needs a model that thinks',
    },
  },
  'docs/backup.md': {
    skipped: {
      'holdpoint backup /var': 'it needs /srv and /var/backups; the tests of the command run it',
      'holdpoint audit keys --dir /srv': 'it needs /srv; the tests of the command run it',
      'holdpoint restore refunds': 'it needs /srv; the tests of the command run it',
      'holdpoint upgrade': 'it needs an agent of an earlier release; its tests run it',
      '/opt/holdpoint': 'it needs an earlier release; its tests run it',
      pg_dump: 'it needs a database',
      pg_restore: 'it needs a database',
    },
  },
  'docs/deploy.md': {
    skipped: {
      'npm pack\n': 'it needs Docker; the long test of the image builds it without',
      'cd deploy\numask 077': 'it needs Docker',
      'sed -i': 'it needs the daemon of Docker',
      'docker build -t shop': 'it needs Docker',
      '. ./.env': 'it needs the agent that Docker Compose starts',
      'docker compose up':
        'it needs Docker; the long test of the image holds and releases a call without',
      'tar -czf deploy/kubernetes': 'it needs kubectl; the test of the manifests runs it',
      'kubectl apply -f': 'it needs a cluster of Kubernetes',
      'helm install': 'it needs a cluster of Kubernetes; the test of the chart renders it',
    },
  },
  'docs/secrets.md': { before: `${refunds}\nexport KEY_OF_THE_SHOP=shop-key` },
  'docs/skills.md': { before: `${refunds}\nexport TOKEN_OF_THE_BOT=token` },
  'docs/testing.md': {
    skipped: {
      'npm init': 'it needs a registry; the test of the package runs what it installs',
    },
  },
  'docs/telegram.md': {
    skipped: { "export TELEGRAM_BOT_TOKEN='<the token>'": 'it needs a bot of Telegram' },
  },
  'docs/mcp.md': {
    before: `${onPath}\nholdpoint init desk --dir /tmp/desk --yes\ncd /tmp/desk\nexport SHOP_TOKEN=token-of-the-shop`,
    skipped: {
      'claude mcp add': 'Claude Code is not here',
      'holdpoint mcp login tracker': 'it needs a browser and an issuer',
    },
  },
  'docs/webhook.md': {
    prepared: {
      'key=$(printf': `WEBHOOK_ID=m1 WEBHOOK_TIMESTAMP=1790000000
printf '{"a": 1}' > /tmp/body.json
WEBHOOK_SIGNATURE=$(node_modules/.bin/node --input-type=module --eval '
  import { Webhook } from "standardwebhooks";
  const [secret, id, seconds, body] = process.argv.slice(1);
  console.log(new Webhook(secret).sign(id, new Date(seconds * 1000), body));
' -- "$OPS_WEBHOOK_SECRET" m1 1790000000 '{"a": 1}')
clone=$PWD
cd /tmp`,
      'curl -sS "$DECISION_URL"': `cd "$clone"\n${running}\n${held('held')}
DECISION_URL=http://127.0.0.1:8080/tasks/held/decisions
TOKEN=$(cat .service/runtime.token)
waiting=$(curl -s localhost:8080/deferrals)
DEFERRAL_ID=$(printf %s "$waiting" | sed 's/.*"id":"\\([^"]*\\)","task_id".*/\\1/')
ARGS_SHA256=$(printf %s "$waiting" | sed 's/.*"args_sha256":"\\([^"]*\\)".*/\\1/')`,
    },
  },
  'docs/writing-tools.md': {
    meanwhile: {
      'NOTES_SIGNATURE=ann holdpoint run': isReady,
      'holdpoint task send --id clear-1': isHeld,
    },
  },
};
