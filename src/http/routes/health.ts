import type { TaskSystem } from '../../actors/tasks/tasks.ts';
import type { RoutedContext } from '../request-state.ts';
import { Problem } from '../wire/problem.ts';

export interface HealthPorts {
  /** Answers a challenge that arrived at a port; `null` for an invalid one. If absent, challenges are not answered. */
  prove?: (challenge: string, port: number) => string | null;
}

/** `GET /healthz`: the process responds. On a challenge, it proves that it is the agent of its folder. */
export function healthz({ prove }: HealthPorts) {
  return function health(ctx: RoutedContext) {
    const challenge = ctx.get('X-Service-Challenge');
    const { localPort } = ctx.socket;
    if (challenge !== '' && localPort !== undefined) {
      const proof = prove?.(challenge, localPort) ?? null;
      if (proof !== null) ctx.set('X-Service-Proof', proof);
    }
    ctx.body = { status: 'ok' };
  };
}

/** `GET /readyz`: the agent accepts and can record new tasks; 503 while starting, draining or unable to record. */
export function readyz({ system }: { system: Pick<TaskSystem, 'intake'> }) {
  return function ready(ctx: RoutedContext) {
    const isReady = system.intake.isReady();
    const error = 'the service is starting, shutting down, or cannot record anything';
    ctx.status = isReady ? 200 : 503;
    ctx.body = isReady ? { status: 'ready' } : new Problem('not_ready', error).body;
  };
}
