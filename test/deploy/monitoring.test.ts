import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { AgentFolder, type ServiceSettings } from '../helpers/agent-folder.ts';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { readPromQl } from '../helpers/promql-names.ts';
import {
  readScrape,
  registeredMetrics,
  type ScrapedMetric,
} from '../helpers/registered-metrics.ts';
import { launchAgent } from '../helpers/test-agent.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

interface Rule {
  alert?: string;
  record?: string;
  expr: string;
  labels?: { severity: string };
  annotations?: { summary: string; description: string; runbook_url: string };
}

interface Panel {
  id: number;
  title: string;
  type: string;
  description?: string;
  interval?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  datasource?: { uid: string };
  fieldConfig?: {
    defaults: {
      unit: string;
      decimals?: number;
      custom?: { drawStyle?: string; thresholdsStyle?: { mode: string } };
      thresholds?: { steps: { value: number | null }[] };
    };
  };
  targets?: { expr: string; refId: string; datasource: { uid: string } }[];
}

interface Board {
  uid: string;
  title: string;
  links: { url: string }[];
  templating: {
    list: { name: string; query: string | { query: string }; allValue?: string }[];
  };
  panels: Panel[];
}

const ruleFile = parse(read('deploy/prometheus/holdpoint.rules.yaml')) as {
  groups: { rules: Rule[] }[];
};
const rules = ruleFile.groups.flatMap((group) => group.rules);
const alerts = rules.filter(({ alert }) => alert !== undefined);
const boards = globSync('deploy/grafana/dashboards/*.json', { cwd: root })
  .toSorted()
  .map((file) => JSON.parse(read(file)) as Board);
const shown = boards.flatMap(({ panels }) => panels.filter(({ type }) => type !== 'row'));

/** What panels ask, with their titles. */
const targets = shown.flatMap(({ title, targets: own = [] }) =>
  own.map(({ expr }) => [title, expr] as const),
);

/** Replaces the variables of Grafana, as Grafana does before it asks. */
const asked = (expr: string) =>
  expr.replaceAll(/\$__(rate_interval|interval|range)/g, '5m').replaceAll(/\$(\w+)/g, '$1');

const expressions = [
  ...rules.map(({ alert, record, expr }) => [alert ?? record ?? '', expr] as const),
  ...targets.map(([title, expr]) => [title, asked(expr)] as const),
  ...boards.flatMap(({ templating }) =>
    templating.list.flatMap(({ name, query }) => {
      const selector = typeof query === 'string' ? null : /\((.*), \w+\)$/.exec(query.query)?.[1];
      return selector ? [[name, asked(selector)] as const] : [];
    }),
  ),
];

/** Series and labels that Prometheus adds to those of a scrape. */
const ofPrometheus = { metrics: ['up', 'ALERTS'], labels: ['job', 'instance'] };

/** Settings of an agent over PostgreSQL with everything that has metrics. */
const settings = {
  channels: ['webhook'],
  audit: { sinks: [{ type: 'http', url: 'http://127.0.0.1:9/' }] },
  mcp: { servers: [{ name: 'shop', url: 'http://127.0.0.1:9/mcp', tools: { deny: [] } }] },
  store: { kind: 'postgres' },
};

async function scraped(): Promise<Map<string, ScrapedMetric>> {
  const server = await PostgresServer.start();
  const database = await server.createDatabase();
  const folder = new AgentFolder(settings as ServiceSettings);
  const target = { url: 'http://127.0.0.1:9/ops', secret_env: 'OPS_WEBHOOK_SECRET' };
  writeFileSync(
    join(folder.path, 'webhook-config.yaml'),
    JSON.stringify({ adapter: 'webhook', settings: { targets: { ops: target } } }),
  );
  const env = {
    SERVICE_DATABASE_URL: server.url(database),
    OPS_WEBHOOK_SECRET: `whsec_${Buffer.from('of-32-bytes-of-32-bytes-of-32-by').toString('base64')}`,
  };
  const agent = await launchAgent({}, { folder, env });
  try {
    await agent.send('one', [{ tool: 'echo' }, { say: 'done' }]);
    const { body } = await agent.get('/metrics');
    return readScrape(String(body));
  } finally {
    await agent.close();
    await server.remove();
  }
}

describe('the metrics of dashboards and alerts', () => {
  let metrics: Map<string, ScrapedMetric>;
  const labelsOf = new Map<string, Set<string>>();
  beforeAll(async () => {
    metrics = await scraped();
    for (const [name, { labels }] of [...(await registeredMetrics()), ...metrics]) {
      labelsOf.set(name, new Set([...(labelsOf.get(name) ?? []), ...labels]));
    }
  }, 60_000);

  it('are in a scrape of a daemon, with these labels', () => {
    const faults = expressions.flatMap(([place, expr]) => {
      const { selected, grouped } = readPromQl(expr);
      const known = new Set(ofPrometheus.labels);
      const unknown = selected.flatMap(({ metric, labels }) => {
        if (ofPrometheus.metrics.includes(metric)) return [];
        const found = metrics.get(metric);
        const base = metric.replace(/_(bucket|sum|count)$/, '');
        const isPart = metrics.get(base)?.type === 'histogram' && base !== metric;
        if (found?.type === 'histogram' || (found === undefined && !isPart)) {
          return [`${place}: ${metric} is no series`];
        }
        const owned = [...(labelsOf.get(found === undefined ? base : metric) ?? [])];
        const all = [
          ...owned,
          ...ofPrometheus.labels,
          ...(metric.endsWith('_bucket') ? ['le'] : []),
        ];
        for (const label of all) known.add(label);
        return labels
          .filter((label) => !all.includes(label))
          .map((label) => `${place}: ${metric} has no label ${label}`);
      });
      const ungrouped = grouped.filter((label) => !known.has(label));
      return [...unknown, ...ungrouped.map((label) => `${place}: nothing has the label ${label}`)];
    });
    expect(faults).toEqual([]);
  });

  it('include every metric of the agent', () => {
    const used = new Set(
      expressions.flatMap(([, expr]) =>
        readPromQl(expr).selected.map(({ metric }) => metric.replace(/_(bucket|sum|count)$/, '')),
      ),
    );
    const unused = [...metrics.keys()].filter(
      (name) => /^(holdpoint|gen_ai)_/.test(name) && !used.has(name),
    );
    expect(unused).toEqual([]);
  });
});

describe('the alerts', () => {
  const page = read('docs/alerts.md');
  const names = alerts.map(({ alert = '' }) => alert);

  it('have a severity, text, and a section of the page, and each section an alert', () => {
    const anchor = 'https://github.com/holdpoint/holdpoint/blob/main/docs/alerts.md#';
    for (const { alert = '', labels, annotations } of alerts) {
      expect(['warning', 'critical'], alert).toContain(labels?.severity);
      expect(annotations?.summary, alert).toMatch(/^[A-Z].{9,}[^.]$/);
      expect(annotations?.description, alert).toMatch(/^.{20,}\.$/);
      expect(annotations?.runbook_url).toBe(`${anchor}${alert.toLowerCase()}`);
      const section = new RegExp(`^### ${alert}\\n\\nSeverity \`${labels?.severity}\`\\. `, 'm');
      expect(page, alert).toMatch(section);
    }
    const sections = [...page.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(names);
    expect(new Set(names).size).toBe(names.length);
  });

  it('have a test that fires each of them', () => {
    const file = parse(read('deploy/prometheus/holdpoint.rules.test.yaml')) as {
      tests: { alert_rule_test?: { alertname: string; exp_alerts: unknown[] }[] }[];
    };
    const fired = file.tests.flatMap(({ alert_rule_test: tests = [] }) =>
      tests.filter(({ exp_alerts: expected }) => expected.length > 0),
    );
    expect(fired.map(({ alertname }) => alertname)).toEqual(names);
  });

  it('name panels of a dashboard', () => {
    const titles = [...shown, ...boards].map(({ title }) => title.replace('Holdpoint / ', ''));
    const named = [...page.matchAll(/\*([A-Z][^*]+)\*/g)].map(([, title = '']) => title);
    expect(named.filter((title) => !titles.includes(title) && title !== 'Targets')).toEqual([]);
  });
});

describe('the dashboards', () => {
  it('have variables, descriptions, units and links to pages', () => {
    expect(boards.map(({ uid }) => uid)).toEqual(['holdpoint-approvals', 'holdpoint-service']);
    for (const { links, templating, panels } of boards) {
      expect(templating.list.map(({ name }) => name)).toEqual([
        ...['datasource', 'agent', 'job', 'instance'],
      ]);
      for (const { url } of links.filter((link) => !link.url.startsWith('/d/'))) {
        const [, page = '', heading = ''] = /\/(docs\/[^#]+)#?(.*)$/.exec(url) ?? [];
        const headings = [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, text = '']) => text);
        const anchors = headings.map((text) => text.toLowerCase().replaceAll(' ', '-'));
        if (heading !== '') expect(anchors).toContain(heading);
      }
      for (const { url } of links.filter((link) => link.url.startsWith('/d/'))) {
        expect(boards.map(({ uid }) => `/d/${uid}`)).toContain(url);
      }
      expect(new Set(panels.map(({ title }) => title)).size).toBeGreaterThan(10);
    }
    for (const { title, type, description = '', datasource, fieldConfig, ...more } of shown) {
      expect(description, title).toMatch(/\.$/);
      expect(datasource?.uid, title).toBe('${datasource}');
      if (type !== 'heatmap') expect(fieldConfig?.defaults.unit, title).toMatch(/\w/);
      expect(more.targets?.length, title).toBeGreaterThan(0);
      for (const { expr } of more.targets ?? []) {
        // An alert of a whole job has no instance.
        expect(expr, title).toMatch(/\{job=~"\$job", instance=~"\$instance\|?"/);
      }
    }
  });

  it('show the daemons of the chosen agent, and no other program of Prometheus', () => {
    for (const { templating } of boards) {
      const queries = Object.fromEntries(templating.list.map(({ name, query }) => [name, query]));
      expect(queries).toMatchObject({
        job: { query: 'label_values(holdpoint_build_info{agent=~"$agent"}, job)' },
        instance: {
          query: 'label_values(holdpoint_build_info{agent=~"$agent", job=~"$job"}, instance)',
        },
      });
      // "All" is then each of these jobs and instances; with a value of its own it would be every target.
      const everything = templating.list.filter(({ allValue }) => allValue !== undefined);
      expect(everything.map(({ name }) => name)).toEqual(['agent']);
    }
  });

  it('count shared values once for each agent, as agents may share a job', () => {
    const merged = targets.filter(([, expr]) => /by \(job(?!, agent\b)/.test(expr));
    expect(merged).toEqual([]);
  });

  it('count each event in one bar, as a whole number', () => {
    const bars = shown.filter(
      ({ fieldConfig }) => fieldConfig?.defaults.custom?.drawStyle === 'bars',
    );
    expect(bars.length).toBeGreaterThan(10);
    for (const { title, interval, fieldConfig, targets: own = [] } of bars) {
      const { unit, decimals } = fieldConfig?.defaults ?? {};
      // Two scrapes of a minute are the least that make an increase.
      expect({ interval, unit, decimals }, title).toEqual({
        ...{ interval: '2m', unit: 'locale', decimals: 0 },
      });
      for (const { expr } of own) {
        expect([...expr.matchAll(/\w+\(\w+\{[^}]*\}\[.*?\]/g)].join(), title).toMatch(
          /^increase\(\w+\{[^}]*\}\[\$__interval\]$/,
        );
      }
    }
  });

  it('draw the limits of the alerts', () => {
    const limits = shown.flatMap(({ title, fieldConfig, targets: [first] = [] }) => {
      const { custom, thresholds } = fieldConfig?.defaults ?? {};
      if (custom?.thresholdsStyle?.mode !== 'dashed') return [];
      const metric = /\b(\w+)\{/.exec(first?.expr ?? '')?.[1] ?? '';
      return [{ title, metric, limit: thresholds?.steps.at(-1)?.value }];
    });
    expect(limits.length).toBeGreaterThan(3);
    for (const { title, metric, limit } of limits) {
      const found = alerts.filter(({ expr }) => expr.includes(metric));
      const values = found.map(({ expr }) => Number(/ > ([\d.]+)/.exec(expr)?.[1]));
      expect(values, title).toEqual([limit]);
    }
  });

  it('answer an idle time with text, not with a division by zero', () => {
    const shares = shown
      .filter(({ type }) => type === 'stat')
      .flatMap(({ title, targets: own = [] }) => own.map(({ expr }) => [title, expr] as const))
      .filter(([, expr]) => expr.includes(' / ') && !expr.includes('_disk_'));
    expect(shares.map(([title]) => title)).toEqual([
      'In time',
      'Failed requests',
      'Failed model calls',
    ]);
    for (const [title, expr] of shares) expect(expr, title).toMatch(/ \/ \(.* > 0\)$/);
  });

  it('have panels that fit in the grid and do not overlap', () => {
    for (const { panels } of boards) {
      const ids = panels.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
        Array.from(
          { length: w * h },
          (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`,
        ),
      );
      expect(new Set(cells).size).toBe(cells.length);
      for (const { title, type, gridPos } of panels) {
        expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
        // A narrower one cuts its title off.
        if (type !== 'row') expect(gridPos.w, title).toBeGreaterThanOrEqual(6);
      }
    }
  });
});

it('the agent is scraped with a token from a file, and the rules are loaded', () => {
  const config = parse(read('deploy/prometheus/prometheus.yml')) as {
    rule_files: string[];
    scrape_configs: { job_name: string; authorization: { credentials_file: string } }[];
  };
  expect(config.rule_files).toEqual(['holdpoint.rules.yaml']);
  expect(config.scrape_configs.map(({ job_name: job }) => job)).toEqual(['holdpoint']);
  expect(config.scrape_configs[0]?.authorization.credentials_file).toMatch(/^\/etc\//);
});
