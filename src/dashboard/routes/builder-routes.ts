import type Router from '@koa/router';
import { z } from 'zod';
import { readJson } from '../../http/middleware/read-json.ts';
import type { RequestState, RoutedContext } from '../../http/request-state.ts';
import { EventStream } from '../../http/wire/sse.ts';
import type { BuilderAgent, BuilderTurn } from '../builder/skill-builder.ts';
import { atMost } from './at-most.ts';
import { bodyOf } from './body-of.ts';
import type { DashboardPorts } from './dashboard-ports.ts';
import { agentOf } from './relay.ts';

/** Maximum number of turns in a conversation, and maximum total characters. */
const mostMessages = 200;
const longestConversation = 1024 * 1024;

/** Maximum number of concurrent model turns. Each holds a connection to a provider and an answer in memory. */
const mostTurns = 16;

const chatBody = z
  .object({
    messages: z
      .array(z.object({ role: z.enum(['user', 'assistant']), content: z.string() }))
      .min(1)
      .max(mostMessages)
      .refine((all) => all.at(-1)?.role === 'user')
      .refine((all) => all.at(-1)?.content.trim() !== '')
      .refine(
        (all) => all.reduce((sum, { content }) => sum + content.length, 0) <= longestConversation,
      ),
    mode: z.enum(['create', 'edit']).default('create'),
    editing_name: z.string().optional(),
  })
  .refine(({ mode, editing_name: name }) => mode === 'create' || name !== undefined);

/** Adds the routes of the skill builder and its settings (docs/contract/dashboard.md). */
export function addBuilderRoutes(router: Router<RequestState>, ports: DashboardPorts): void {
  const { workspace, builder } = ports;
  const subjectOf = (ctx: RoutedContext): BuilderAgent => {
    const { id, directory, description } = agentOf(ctx, workspace);
    return { id, directory, tools: description.tools };
  };

  addSkillRoutes(router, ports, subjectOf);
  const error = `${mostTurns} conversations are under way; wait for one to end, or stop it`;
  const bounded = atMost(mostTurns, { code: 'too_many_conversations', error });

  router.get('/api/settings/skill-builder', async (ctx: RoutedContext) => {
    ctx.body = await builder.settings();
  });
  router.put('/api/settings/skill-builder', readJson(), async (ctx: RoutedContext) => {
    ctx.body = await builder.saveSettings(Object(ctx.request.body) as object);
    ports.log.warn({}, 'dashboard: the settings of the skill builder were changed');
  });
  router.get('/api/skill-builder/provider', async (ctx: RoutedContext) => {
    ctx.body = await builder.status(null);
  });
  router.get('/api/agents/:id/skill-builder/provider', async (ctx: RoutedContext) => {
    ctx.body = await builder.status(subjectOf(ctx));
  });
  router.get('/api/agents/:id/skill-builder/context', async (ctx: RoutedContext) => {
    ctx.body = { system_prompt: await builder.prompt(subjectOf(ctx)) };
  });
  router.post('/api/agents/:id/skill-builder/chat', readJson(), async (ctx: RoutedContext) => {
    const agent = subjectOf(ctx);
    const wrong = `messages must be 1 to ${mostMessages} of {role: user or assistant, content}, the last of them of the user; mode edit needs editing_name`;
    const { messages, mode, editing_name: name } = bodyOf(ctx, chatBody, wrong);
    const editing = mode === 'edit' ? (name ?? null) : null;
    await bounded(async () => takeTurn(ctx, await builder.converse(agent, { messages, editing })));
  });
}

/** Streams a turn to the client. The turn ends if the client disconnects. */
async function takeTurn(ctx: RoutedContext, turn: BuilderTurn): Promise<void> {
  const over = new AbortController();
  const stream = new EventStream(ctx, () => over.abort());
  await turn(
    {
      onToken: (text) => stream.sendText({ event: 'token', data: { text } }),
      onMessage: (content) => stream.send({ event: 'message', data: { content } }),
      onDraft: (draft) => stream.send({ event: 'skill_draft', data: draft }),
      onEnd: (error) =>
        stream.finish([
          error === null ? { event: 'done', data: {} } : { event: 'error', data: { error } },
        ]),
    },
    over.signal,
  );
}

const draftShape = {
  skill_md: z.string().max(longestConversation),
  scripts: z.record(z.string(), z.string()).default({}),
};

const checkBody = z.object({
  ...draftShape,
  mode: z.enum(['create', 'edit']).default('create'),
  editing_name: z.string().optional(),
});

const saveBody = z.object({
  ...draftShape,
  skill_name: z.string().optional(),
  env: z.record(z.string(), z.string().max(64 * 1024)).default({}),
  overwrite: z.boolean().default(false),
  hold: z.boolean().default(true),
  editing_name: z.string().optional(),
});

/** Adds the routes of an agent's own skills. */
function addSkillRoutes(
  router: Router<RequestState>,
  { builder, log }: DashboardPorts,
  subjectOf: (ctx: RoutedContext) => BuilderAgent,
): void {
  const root = '/api/agents/:id/skill-builder';

  router.get(`${root}/skills`, async (ctx: RoutedContext) => {
    ctx.body = await builder.skills(subjectOf(ctx));
  });
  router.get(`${root}/skills/:name`, async (ctx: RoutedContext) => {
    const skill = await builder.skill(subjectOf(ctx), ctx.params['name'] ?? '');
    ctx.set('ETag', skill.etag);
    ctx.body = skill;
  });
  router.post(`${root}/validate`, readJson(), async (ctx: RoutedContext) => {
    const { mode, editing_name: name, ...draft } = bodyOf(ctx, checkBody, wrongField);
    const editing = mode === 'edit' ? (name ?? null) : null;
    ctx.body = await builder.check(subjectOf(ctx), draft, editing);
  });
  router.post(`${root}/save`, readJson(), async (ctx: RoutedContext) => {
    const agent = subjectOf(ctx);
    const { skill_name, editing_name, ...body } = bodyOf(ctx, saveBody, wrongField);
    const ifMatch = ctx.get('If-Match');
    const saved = await builder.save(agent, {
      ...body,
      skillName: skill_name ?? null,
      editing: editing_name ?? null,
      etag: ifMatch === '' ? null : ifMatch,
    });
    const { name, path, egress_added, held_added } = saved;
    // Saved skills are code that the agent will run, so the log records the save without its content.
    const told = { agent: agent.id, skill: name, path, scripts: Object.keys(body.scripts).length };
    const more = { egress_added, held_added, variables: Object.keys(body.env) };
    const fields = { ...told, ...more, overwrite: body.overwrite };
    log.warn(fields, 'dashboard: the operator saved a skill');
    ctx.body = saved;
  });
}

function wrongField(path: string, message: string): string {
  return `${path} is not what it should be: ${message}`;
}
