import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clusterProgram } from '../../scripts/manifests/cluster-program.ts';
import { renderChart } from '../../scripts/manifests/render-chart.ts';
import { temporaryFolder } from '../helpers/test-system.ts';
import { runCommand } from '../tooling/run-command.ts';
import { exampleFiles } from './example-files.ts';

const withFiles = exampleFiles();

it('the chart passes the linter of Helm', async () => {
  const words = [
    'lint',
    '--strict',
    'deploy/helm/holdpoint',
    '--values',
    'deploy/kubernetes/values.yaml',
  ];
  expect(await runCommand(await clusterProgram('helm'), words)).toMatchObject({ status: 0 });
});

describe('values that would not work', () => {
  const good = ['--set', 'secret.name=refunds', '--set', 'secret.keys={SERVICE_DATABASE_URL}'];
  const dashboard = 'dashboard.enabled=true,dashboard.host=ops.example.com';
  it.each([
    [['--set', 'replica=3'], "at '': additional properties 'replica' not allowed"],
    [['--set', 'ingress.hosts=a'], "at '/ingress': additional properties 'hosts' not allowed"],
    [['--set', 'image.tag=latest'], "at '/image/tag': 'not' failed"],
    [
      ['--set', 'store.kind=sqlite'],
      'daemon.replicas is 3, but SQLite has one daemon; set daemon.replicas to 1, or store.kind to postgres',
    ],
    [
      ['--set', 'secret.keys={SERVICE_TOKEN}'],
      'secret.keys has no SERVICE_DATABASE_URL, which store.kind postgres needs; add it to the Secret and to secret.keys',
    ],
    [
      ['--set', 'secret.name='],
      'secret.name is empty; name the Secret that has the keys of secret.keys',
    ],
    [
      ['--set', 'daemon.env.SERVICE_TOKEN=abc'],
      'daemon.env has SERVICE_TOKEN, which anyone who may read the pod would see; add it to the Secret and to secret.keys',
    ],
    [
      ['--set', 'secret.keys={SERVICE_DATABASE_URL,TZ}', '--set', 'daemon.env.TZ=UTC'],
      'daemon.env and secret.keys both have TZ; keep one of them',
    ],
    [
      ['--set', 'ingress.host=refunds.example.com'],
      'ingress.tlsSecret is empty, so tokens for refunds.example.com would be sent without TLS; name the Secret with its certificate',
    ],
    [
      ['--set', 'metrics.serviceMonitor=true'],
      'metrics.serviceMonitor needs a token: add the key SERVICE_METRICS_TOKEN to the Secret and to secret.keys',
    ],
    [
      ['--set', dashboard],
      'dashboard.tlsSecret is empty, so nobody could sign in to the dashboard safely; set it, or dashboard.enabled to false',
    ],
    [
      ['--set', 'daemon.enabled=false'],
      'daemon.enabled and dashboard.enabled are both false, so nothing would run; set one of them to true',
    ],
    [
      ['--set', 'agent.existingConfigMap=a', ...withFiles],
      'agent.files and agent.existingConfigMap are both set; keep the one that has the folder of the agent',
    ],
    [
      ['--set', String.raw`agent.files.SKILL\.md=x`],
      'agent.files has no service.yaml; add the configuration of the agent under that path',
    ],
    [
      [...withFiles, '--set', String.raw`agent.files.\.\./x=y`],
      "agent.files: \"../x\" is no path of a file in the folder; use letters, digits, '.', '_' and '-' between '/', and no hidden file",
    ],
    [
      [...withFiles, '--set', String.raw`agent.files.scripts__pay_refund\.mjs=y`],
      'agent.files: "scripts__pay_refund.mjs" has the same key scripts__pay_refund.mjs as another file; rename one',
    ],
    [
      ['--set', String.raw`agent.files.service\.yaml=agent_id: x`],
      'store.kind is postgres, but sqlite in service.yaml; make them equal',
    ],
  ])('are refused with one message: %j', async (words, sentence) => {
    const { status, stderr } = await renderChart(...good, ...words);
    expect(status).toBe(1);
    expect(stderr).toContain(sentence);
  });

  it('refuse a public URL without TLS', async () => {
    const folder = temporaryFolder();
    writeFileSync(
      join(folder, 'service.yaml'),
      'store: {kind: postgres}\nserver: {public_url: "http://a.example.com"}\n',
    );
    const { status, stderr } = await renderChart(
      ...good,
      '--set-file',
      String.raw`agent.files.service\.yaml=` + join(folder, 'service.yaml'),
    );
    expect(status).toBe(1);
    expect(stderr).toContain(
      'server.public_url in service.yaml is http://a.example.com, without TLS; write https:// and set ingress.tlsSecret',
    );
  });
});
