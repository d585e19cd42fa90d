import { expect, it } from 'vitest';
import { firstAnswers } from '../../../src/machines/wizard/agent-answers.ts';
import { agentPlan } from '../../../src/machines/wizard/agent-plan.ts';
import { variableHosts } from '../../../src/machines/wizard/variable-hosts.ts';

const answers = {
  ...firstAnswers,
  name: 'Desk',
  skills: {
    names: ['kubernetes', 'email-send'],
    variables: {
      KUBERNETES_API_URL: 'https://K8s.example.com:6443',
      KUBERNETES_TOKEN: 'no address',
      SMTP_URL: 'smtps://ann:secret@mail.example.com',
    },
  },
  security: {
    variables: {
      SHOP_URL: 'https://shop.example.com/v1',
      RELAY: 'smtp://relay.example.com',
      DATABASE_URL: 'postgres://db.example.com:5432/desk',
      OTHER: 'postgres://db.example.com/desk',
      LOCAL: 'http://10.0.0.5:9000',
      WORDS: 'see https://example.com',
    },
    passphrase: '',
  },
};

const hosts = [
  { host: 'k8s.example.com:6443', name: 'KUBERNETES_API_URL' },
  { host: 'mail.example.com:465', name: 'SMTP_URL' },
  { host: 'shop.example.com', name: 'SHOP_URL' },
  { host: 'relay.example.com:587', name: 'RELAY' },
  { host: 'db.example.com:5432', name: 'DATABASE_URL' },
];

it('the hosts that variables name by URL are found, with their ports', () => {
  expect(variableHosts(answers)).toEqual(hosts);
});

it('these hosts are added to the policy of the agent, unless its tools reach nothing or everything', () => {
  const egress = (mode: string) =>
    agentPlan({ ...answers, egress: { mode, hosts: ['mail.example.com:465'] } }).service?.[
      'egress'
    ];
  expect(egress('allowlist')).toEqual({
    allowed_domains: ['mail.example.com:465', ...hosts.map(({ host }) => host)].filter(
      (host, index, all) => all.indexOf(host) === index,
    ),
  });
  expect(egress('deny-all')).toEqual({ mode: 'deny-all' });
});
