import { note } from '@clack/prompts';
import type { Actor } from 'xstate';
import { previewAgent } from '../../agent/start/preview-agent.ts';
import { questions } from '../../machines/wizard/agent-answers.ts';
import { gateProvider } from '../../machines/wizard/offers.ts';
import type { WizardContext, wizardMachine } from '../../machines/wizard/wizard-machine.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { askStep } from './ask-step.ts';
import { GoBack, Prompts } from './prompts.ts';

/** Prompts for the current step or shows the review, then moves on. Returns true for forward and false for back. */
export async function askNext(
  session: Session,
  wizard: Actor<typeof wizardMachine>,
  hosts: () => string[],
): Promise<boolean> {
  const { value, context } = wizard.getSnapshot();
  const step = questions.find((each) => each === value);
  const prompts = new Prompts(session, context.complaint);
  try {
    if (step === undefined) {
      await askReview(session, prompts, context);
      wizard.send({ type: 'review.accept' });
    } else {
      const { answers, offer } = context;
      wizard.send(await askStep(step, { prompts, answers, offer, hosts, env: session.env }));
      wizard.send({ type: 'step.next' });
    }
    return true;
  } catch (error) {
    if (!(error instanceof GoBack)) throw error;
    wizard.send({ type: 'step.back' });
    return false;
  }
}

/** Shows the files to be written and asks for confirmation. */
async function askReview(
  { output }: Session,
  prompts: Prompts,
  { answers, offer }: WizardContext,
): Promise<void> {
  const { agentId, files, variables } = previewAgent(answers, offer.skills);
  for (const [name, text] of Object.entries(files)) {
    note(text.split('\n').map(plainLine).join('\n').trimEnd(), name, { output: output.stderr });
  }
  const { provider, model, tools, approvals } = answers;
  const choices = [{ value: 'write', label: 'write it' }];
  if (provider === gateProvider) {
    return void (await prompts.one(plainLine(`${agentId}: a gate`), choices, 'write'));
  }
  const thinks = `${provider} ${provider === 'scripted' ? '' : model.name}`.trim();
  const has = tools.names.join(', ') || 'none';
  const held = Object.keys(approvals).join(', ') || 'none';
  const kept = variables.length === 0 ? '' : `, secrets ${variables.join(', ')}`;
  const message = plainLine(`${agentId}: ${thinks}, tools ${has}, held ${held}${kept}`);
  await prompts.one(message, choices, 'write');
}
