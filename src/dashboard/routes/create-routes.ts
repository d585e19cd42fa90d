import type Router from '@koa/router';
import { readJson } from '../../http/middleware/read-json.ts';
import type { RequestState, RoutedContext } from '../../http/request-state.ts';
import type {
  CreatedJson,
  WizardMetaJson,
  WizardPreviewJson,
} from '../../http/wire/dashboard/wizard-json.ts';
import { Problem } from '../../http/wire/problem.ts';
import {
  type AgentAnswers,
  firstAnswers,
  firstApproval,
  isAsked,
  settledAnswers,
  steps,
} from '../../machines/wizard/agent-answers.ts';
import { isRecord } from '../../machines/wizard/field.ts';
import {
  authOffers,
  channels,
  egressModes,
  providers,
  searchServices,
  tools,
  type WizardOffer,
} from '../../machines/wizard/offers.ts';
import { readAnswers } from '../../machines/wizard/read-answers.ts';
import { wrongAnswer } from '../../machines/wizard/wrong-answers.ts';
import type { DashboardPorts } from './dashboard-ports.ts';

/** Adds the routes that create an agent (docs/contract/dashboard.md). */
export function addCreateRoutes(
  router: Router<RequestState>,
  { workspace, maker }: Pick<DashboardPorts, 'workspace' | 'maker'>,
): void {
  router.get('/api/wizard/meta', async (ctx: RoutedContext) => {
    ctx.body = metaJson(await maker.offer());
  });
  router.post(
    '/api/wizard/preview',
    readJson({ prototypes: 'remove' }),
    async (ctx: RoutedContext) => {
      const offer = await maker.offer();
      const answers = answersIn(ctx, offer);
      const preview = await maker.preview(settledAnswers(answers, offer));
      const wrong = complaints(answers, offer);
      ctx.body = { ...preview, complaints: Object.fromEntries(wrong) } satisfies WizardPreviewJson;
    },
  );
  router.post('/api/create', readJson({ prototypes: 'remove' }), async (ctx: RoutedContext) => {
    const offer = await maker.offer();
    const answers = answersIn(ctx, offer);
    const [first] = complaints(answers, offer);
    if (first !== undefined) throw new Problem('invalid_body', first[1], { step: first[0] });
    const directory = await maker.make(settledAnswers(answers, offer));
    // Makes the new agent appear immediately.
    await workspace.rescan();
    const found = workspace.agents().find((agent) => agent.directory === directory);
    ctx.status = 201;
    ctx.body = { agent_id: found?.id ?? '', directory } satisfies CreatedJson;
  });
}

function answersIn(ctx: RoutedContext, { skills }: WizardOffer): AgentAnswers {
  const { body } = ctx.request;
  if (isRecord(body)) return readAnswers(body, skills);
  throw new Problem('invalid_body', 'send the answers as a JSON object, with a name at least');
}

/** Returns the problem of each asked step, in step order. */
function complaints(answers: AgentAnswers, offer: WizardOffer): [string, string][] {
  return steps
    .filter((step) => isAsked(step, answers, offer))
    .flatMap((step) => {
      const wrong = wrongAnswer(step, answers, offer);
      return wrong === null ? [] : [[step, wrong] as [string, string]];
    });
}

function metaJson({ skills, signIn }: WizardOffer): WizardMetaJson {
  return {
    steps,
    answers: firstAnswers,
    approval: firstApproval,
    skills,
    providers: providers.map((offer) => ({ ...offer, sign_in: signIn.includes(offer.name) })),
    channels,
    tools,
    auth: authOffers,
    egress_modes: egressModes,
    search_services: searchServices,
  };
}
