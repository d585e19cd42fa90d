import type { AgentAnswers, Step } from '../../../../machines/wizard/agent-answers.ts';
import { authOffer, channelOffer, type WizardOffer } from '../../../../machines/wizard/offers.ts';
import { wrongAnswer } from '../../../../machines/wizard/wrong-answers.ts';

/**
 * Returns the field of a step that a problem concerns, such as `model.key`; `null` if it concerns no single field. It
 * is the first field whose correction changes or removes the problem.
 */
export function wrongField(step: Step, answers: AgentAnswers, offer: WizardOffer): string | null {
  const complaint = wrongAnswer(step, answers, offer);
  if (complaint === null) return null;
  const mended = mendings(step, answers).find(
    ([, other]) => wrongAnswer(step, { ...answers, ...other }, offer) !== complaint,
  );
  return mended === undefined ? null : mended[0];
}

type Mending = readonly [field: string, answers: Partial<AgentAnswers>];

/** Returns a step's answers with one field at a time replaced with a valid value. */
function mendings(step: Step, answers: AgentAnswers): Mending[] {
  const { model, channels, tools, skills, fallback, auth, egress, security, approvals } = answers;
  switch (step) {
    case 'name':
      return [['name', { name: 'x' }]];
    case 'provider':
    case 'review':
      return [];
    case 'model':
      return Object.entries({ name: 'x', address: address, organization: '', key: '' }).map(
        ([key, right]) => [`model.${key}`, { model: { ...model, [key]: right } }],
      );
    case 'channels':
      return Object.entries(channels).flatMap(([name, values]) =>
        (channelOffer(name)?.fields ?? []).map((field): Mending => {
          const right = { ...values, [field.name]: rightTexts[field.name] ?? '' };
          return [`channels.${name}.${field.name}`, { channels: { ...channels, [name]: right } }];
        }),
      );
    case 'tools':
      return [
        ['tools.key', { tools: { ...tools, key: '' } }],
        ['tools.commands', { tools: { ...tools, commands: ['jq'] } }],
      ];
    case 'skills':
      return Object.keys(skills.variables).map((name) => [
        `skills.${name}`,
        { skills: { ...skills, variables: { ...skills.variables, [name]: '' } } },
      ]);
    case 'fallback':
      return fallback.flatMap((each, at) =>
        Object.entries({ name: 'x', address, key: '' }).map(
          ([key, right]): Mending => [
            `fallback.${at}.${key}`,
            { fallback: fallback.with(at, { ...each, [key]: right }) },
          ],
        ),
      );
    case 'auth':
      return (authOffer(auth.mode)?.fields ?? []).map(({ name, kind, example }) => {
        const right = kind === 'list' ? [example] : kind === 'map' ? {} : example;
        return [
          `auth.${name}`,
          { auth: { ...auth, settings: { ...auth.settings, [name]: right } } },
        ];
      });
    case 'egress':
      return [['egress.hosts', { egress: { ...egress, hosts: [] } }]];
    case 'security':
      return [
        ['security.passphrase', { security: { ...security, passphrase: '' } }],
        ...Object.keys(security.variables).map((name, at): Mending => {
          const { [name]: _, ...variables } = security.variables;
          return [`security.${at}`, { security: { ...security, variables } }];
        }),
      ];
    case 'approvals':
      return Object.entries(approvals).flatMap(([tool, approval]) =>
        Object.entries({
          to: 'channel:console:*',
          timeout: '5m',
          approvers: approval.approvers.length === 0 ? ['a@b.example'] : [],
          quorum: 1,
        }).map(
          ([key, right]): Mending => [
            `approvals.${tool}.${key}`,
            { approvals: { ...approvals, [tool]: { ...approval, [key]: right } } },
          ],
        ),
      );
  }
}

const address = 'https://models.example.com/v1';

/** Valid values for the required channel fields; the other fields may be empty. */
const rightTexts: Readonly<Record<string, string>> = {
  target: 'ops',
  url: 'https://ops.example.com/approvals',
};
