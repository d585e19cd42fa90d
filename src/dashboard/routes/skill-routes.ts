import type Router from '@koa/router';
import { z } from 'zod';
import { readJson } from '../../http/middleware/read-json.ts';
import type { RequestState, RoutedContext } from '../../http/request-state.ts';
import { Problem } from '../../http/wire/problem.ts';
import { isKebabName } from '../../machines/kebab-case.ts';
import { bodyOf } from './body-of.ts';
import type { DashboardPorts } from './dashboard-ports.ts';
import { agentOf } from './relay.ts';

const addBody = z.strictObject({ name: z.string() });

/** Adds the routes that list the bundled skills and add one to an agent. */
export function addSkillRoutes(router: Router<RequestState>, ports: DashboardPorts): void {
  const { workspace, skills } = ports;

  router.get('/api/skills', async (ctx: RoutedContext) => {
    const { category } = ctx.query;
    const found = await skills.list();
    if (category === undefined || category === '') {
      ctx.body = found;
      return;
    }
    const wanted = checkedName(category, 'category');
    ctx.body = found.filter((skill) => skill.category === wanted);
  });
  router.get('/api/skills/:name', async (ctx: RoutedContext) => {
    const name = checkedName(ctx.params['name'], 'the name of a skill');
    ctx.body = (await skills.find(name)) ?? missing(name);
  });
  router.post('/api/agents/:id/skills', readJson(), async (ctx: RoutedContext) => {
    const { directory } = agentOf(ctx, workspace);
    const body = bodyOf(ctx, addBody, 'name must be the name of a skill');
    const name = checkedName(body.name, 'the name of a skill');
    const isPreview = previewOf(ctx);
    const plan = await skills.add(directory, name, { isPreview });
    ctx.status = isPreview ? 200 : 201;
    ctx.body = plan ?? missing(name);
    if (!isPreview) await workspace.rescan();
  });
}

function checkedName(text: unknown, what: string): string {
  if (isKebabName(text)) return text;
  throw new Problem('invalid_body', `${what} is lower-case words with hyphens`);
}

function previewOf(ctx: RoutedContext): boolean {
  const { preview } = ctx.query;
  if (preview === undefined || preview === 'false') return false;
  if (preview === 'true') return true;
  throw new Problem('invalid_query', 'preview is true or false');
}

function missing(name: string): never {
  throw new Problem('skill_not_found', `there is no skill ${name}`);
}
