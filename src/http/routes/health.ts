import { z } from 'zod';
import type { TaskSystem } from '../../actors/tasks/tasks.ts';
import { holding } from '../openapi/operation.ts';
import type { RoutedContext } from '../request-state.ts';
import { Problem } from '../wire/problem.ts';
import type { Routes } from './route.ts';

interface ReadinessPorts {
  system: Pick<TaskSystem, 'intake'>;
}

export interface HealthPorts {
  /** Answers a challenge that arrived at a port; `null` for an invalid one. If absent, challenges are not answered. */
  prove?: (challenge: string, port: number) => string | null;
}

const health = z.object({ status: z.string() }).meta({ id: 'Health' });

/** The routes of health. */
export const healthRoutes = (ports: HealthPorts & ReadinessPorts): Routes => ({
  'GET /healthz': {
    id: 'getHealth',
    tag: 'watching',
    says: 'Reports that the process is alive.',
    parameters: [
      {
        name: 'X-Service-Challenge',
        in: 'header',
        says: 'Proves that the agent is that of its folder.',
        schema: z.string(),
      },
    ],
    answers: { 200: holding('It does.', health, { example: { status: 'ok' } }) },
    isPublic: true,
    isUnlimited: true,
    answer: showHealth(ports),
  },
  'GET /readyz': {
    id: 'getReadiness',
    tag: 'watching',
    says: 'Reports whether new work is accepted and can be recorded.',
    answers: { 200: holding('It is.', health, { example: { status: 'ready' } }) },
    isPublic: true,
    isUnlimited: true,
    answer: showReadiness(ports),
  },
});

/** Answers a challenge with the proof that this is the agent of its folder. */
function showHealth({ prove }: HealthPorts) {
  return function answer(ctx: RoutedContext) {
    const challenge = ctx.get('X-Service-Challenge');
    const { localPort } = ctx.socket;
    if (challenge !== '' && localPort !== undefined) {
      const proof = prove?.(challenge, localPort) ?? null;
      if (proof !== null) ctx.set('X-Service-Proof', proof);
    }
    ctx.body = { status: 'ok' };
  };
}

function showReadiness({ system }: ReadinessPorts) {
  return function ready(ctx: RoutedContext) {
    const isReady = system.intake.isReady();
    const error = 'the service is starting, shutting down, or cannot record anything';
    ctx.status = isReady ? 200 : 503;
    ctx.body = isReady ? { status: 'ready' } : new Problem('not_ready', error).body;
  };
}
