import type Router from '@koa/router';
import { z } from 'zod';
import {
  readConfigText,
  rulesIn,
  type ToolRulesEdit,
  type WorkspaceAgent,
  withRules,
} from '../../actors/workspace/workspace.ts';
import { readJson } from '../../http/middleware/read-json.ts';
import type { RequestState, RoutedContext } from '../../http/request-state.ts';
import type { ConfigChangedJson } from '../../http/wire/dashboard/config-json.ts';
import type { PolicyPreviewJson } from '../../http/wire/dashboard/explain-json.ts';
import type {
  PolicyEditJson,
  PolicyRulesJson,
} from '../../http/wire/dashboard/policy-edit-json.ts';
import { Problem } from '../../http/wire/problem.ts';
import { type CallSource, callsOfTask, lastCalls } from '../reading/recorded-calls-of.ts';
import { bodyOf } from './body-of.ts';
import type { DashboardPorts } from './dashboard-ports.ts';
import { agentOf, passedPart, whileAsked } from './relay.ts';

/** Maximum number of calls evaluated against a changed policy. */
const mostCalls = 100;

const unusable = 'service.yaml has problems; fix them first';

/** Adds the routes that evaluate the current policy or a changed one. They run no tool. */
export function addPolicyRoutes(router: Router<RequestState>, ports: DashboardPorts): void {
  const { workspace, files, audit } = ports;

  router.get('/api/agents/:id/policy', async (ctx: RoutedContext) => {
    const policy = await files.policy(agentOf(ctx, workspace).directory);
    if (policy === null) throw new Problem('config_unusable', unusable);
    ctx.body = policy;
  });
  router.post(
    '/api/agents/:id/tasks/:tid/calls/:call/explain',
    readJson(),
    async (ctx: RoutedContext) => {
      const agent = agentOf(ctx, workspace);
      const task = passedPart(ctx, 'tid');
      const call = passedPart(ctx, 'call');
      const signal = whileAsked(ctx);
      const events = await audit.timeline(agent.directory, task, signal).catch(() => []);
      const found = await callsOfTask(sourceOf(agent), task, events, signal);
      if (found === null) throw new Problem('task_not_found', 'task not found');
      const recorded = found.filter(({ id }) => id === call);
      if (recorded.length === 0) {
        throw new Problem('call_not_found', `no call ${call} of this task is recorded`);
      }
      const explained = await files.explain(agent.directory, { calls: recorded }, signal);
      if (explained === null) throw new Problem('config_unusable', unusable);
      ctx.body = explained.calls[0];
    },
  );
  router.get('/api/agents/:id/policy/rules', async (ctx: RoutedContext) => {
    const { directory } = agentOf(ctx, workspace);
    const policy = await files.policy(directory);
    if (policy === null) throw new Problem('config_unusable', unusable);
    const { content, etag } = await readConfigText(directory);
    const names = policy.tools.map(({ name }) => name);
    const rules = rulesIn(content, names);
    ctx.body = { etag, content, rules } satisfies PolicyRulesJson;
  });
  router.get('/api/agents/:id/policy/conditions', async (ctx: RoutedContext) => {
    const words = await files.conditionWords(agentOf(ctx, workspace).directory);
    if (words === null) throw new Problem('config_unusable', unusable);
    ctx.body = words;
  });
  router.post('/api/agents/:id/policy/conditions', readJson(), async (ctx: RoutedContext) => {
    const { directory } = agentOf(ctx, workspace);
    const condition = bodyOf(ctx, conditionBody, 'send the tool and when, an expression in CEL');
    ctx.body = await files.checkCondition(directory, condition);
  });
  router.post('/api/agents/:id/policy/tests', readJson(), async (ctx: RoutedContext) => {
    const { directory } = agentOf(ctx, workspace);
    const tests = await files.test(directory, undefined, whileAsked(ctx));
    if (tests === null) {
      throw new Problem('policy_tests_not_found', 'the agent has no policy.test.yaml');
    }
    ctx.body = tests;
  });
  router.post('/api/agents/:id/policy/preview', readJson(), async (ctx: RoutedContext) => {
    const agent = agentOf(ctx, workspace);
    const signal = whileAsked(ctx);
    const wrong =
      'send content, the text of service.yaml, or rules with the etag they were read with';
    const body = bodyOf(ctx, previewBody, wrong);
    const edit = 'rules' in body ? await editOf(agent.directory, body) : null;
    if (edit?.isStale === true) {
      ctx.status = 412;
      ctx.body = {
        error: stale,
        content: edit.before,
        etag: edit.etag,
      } satisfies ConfigChangedJson;
      return;
    }
    const content = 'content' in body ? body.content : (edit?.content ?? '');
    const check = await files.check(agent.directory, content);
    if (!check.valid) {
      ctx.status = 400;
      ctx.body = check;
      return;
    }
    const { calls, unread } =
      agent.state === 'running'
        ? await lastCalls(sourceOf(agent), audit, { most: mostCalls, signal })
        : { calls: [], unread: 'the agent does not run, so its calls cannot be read; start it' };
    const explained = await files.explain(agent.directory, { calls, content }, signal);
    if (explained === null) throw new Problem('config_unusable', unusable);
    const tests = edit === null ? null : await files.test(agent.directory, content, signal);
    const preview: PolicyPreviewJson = { ...explained, unread };
    ctx.body =
      edit === null
        ? preview
        : ({
            ...preview,
            before: edit.before,
            content,
            etag: edit.etag,
            tests,
          } satisfies PolicyEditJson);
  });
}

const stale = 'service.yaml has changed since its rules were read; review the current version';

const text = z.string().max(256);
const expression = z.string().max(8_192);
const conditionBody = z.strictObject({ tool: text, when: expression });
const toolRules = z.strictObject({
  tool: text,
  deny: z.boolean(),
  defer: z
    .strictObject({
      to: z.array(text).min(1).max(20),
      timeout: text,
      quorum: z.int().min(1).max(100),
      approvers: z.array(text).max(100),
    })
    .nullable(),
  acr: text,
  modify: z.string().max(65_536),
  listed: z.array(z.enum(['step_up', 'modify', 'defer'])),
  conditions: z
    .array(
      z.strictObject({
        rule: z.string().max(512),
        when: expression,
        terms: z.string().max(65_536),
      }),
    )
    .max(1_000),
});

const previewBody = z.union([
  z.strictObject({ content: z.string() }),
  z.strictObject({ etag: text, rules: z.array(toolRules).max(1_000) }),
]);

/** Computes the `service.yaml` that results from edited rules. Writes nothing. */
async function editOf(
  directory: string,
  { etag, rules }: { etag: string; rules: ToolRulesEdit[] },
): Promise<{ before: string; content: string; etag: string; isStale: boolean }> {
  const now = await readConfigText(directory);
  const read = { before: now.content, etag: now.etag };
  if (now.etag !== etag) return { ...read, content: '', isStale: true };
  return { ...read, content: withRules(now.content, rules), isStale: false };
}

function sourceOf(agent: WorkspaceAgent): CallSource {
  const line = agent.line();
  return {
    directory: agent.directory,
    read: (path, signal) => line.json({ method: 'GET', path, signal }),
  };
}
