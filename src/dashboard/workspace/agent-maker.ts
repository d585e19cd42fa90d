import { join } from 'node:path';
import { CreateError, createAgent } from '../../agent/create-agent.ts';
import { previewAgent } from '../../agent/preview-agent.ts';
import { skillOffers } from '../../agent/skill-offers.ts';
import type { AgentMaker } from '../../http/dashboard/agent-maker.ts';
import { type AgentPlan, agentPlan } from '../../machines/wizard/agent-plan.ts';
import { modelVariable } from '../../machines/wizard/agent-variables.ts';
import type { SignIns } from '../sign-in/sign-in.ts';

export interface AgentMakerOptions {
  workspace: string;
  signIns: () => Promise<SignIns>;
}

/** Creates agents for the dashboard, each in a folder of its name in the workspace. */
export function agentMaker({ workspace, signIns }: AgentMakerOptions): AgentMaker {
  return {
    async offer() {
      return { skills: await skillOffers(), signIn: (await signIns()).providers };
    },
    async preview(answers) {
      const { agentId, files, hosts, variables, missing } = previewAgent(
        answers,
        await skillOffers(),
      );
      const directory = join(workspace, agentId);
      return { agent_id: agentId, directory, files, hosts, variables, missing };
    },
    async make(answers) {
      const { session } = answers.model;
      const all = await signIns();
      const token = session === '' ? '' : all.take(session, answers.provider);
      if (token === null) return { ok: false, code: 'invalid', message: signInAgain };
      const plan = withToken(agentPlan(answers), modelVariable(answers), token);
      const directory = join(workspace, plan.agentId);
      try {
        await createAgent(plan, { directory, mayExist: false });
        return { ok: true, directory };
      } catch (error) {
        if (session !== '') all.giveBack(session);
        if (!(error instanceof CreateError)) throw error;
        return { ok: false, code: error.code, message: error.message };
      }
    },
  };
}

const signInAgain = 'the sign-in has no token any more; sign in again, or give a key';

/** The token of a sign-in is stored in the variable of the API key. */
function withToken(plan: AgentPlan, variable: string | null, token: string): AgentPlan {
  if (token === '' || variable === null) return plan;
  return { ...plan, variables: new Map([...plan.variables, [variable, token]]) };
}
