/** Settings of an agent that holds `pay`, with these rules on top. */
export function holding(rule: object = {}, defer: object = {}) {
  const pay = { to: 'channel:console:*', timeout: '5m', approvers: ['ann@example.com'], ...rule };
  return { security: { defer: { enabled: true, ...defer, tools: { pay } } } };
}

/** A script that pays five and says what came of it. */
export const paying = {
  script: [{ tool: 'pay', args: { amount: 5 } }, { say: 'done: {result}' }],
};
