import { describe, expect, it } from 'vitest';
import { scriptFor } from '../../../src/cli/try/message-parts.ts';
import { findOrder } from '../../../src/cli/try/orders.ts';

const orders = `order_id,customer,item,amount,currency,status,refund_id
A-1001,Hugo Novák,Bath towel,19.90,EUR,delivered,
A-1002,"Korhonen, Aino","Lamp 10"" brass",89.90,EUR,refunded,R-1
`;

describe('findOrder', () => {
  it('reads quoted fields', () => {
    expect(findOrder(orders, 'A-1002')).toEqual({
      id: 'A-1002',
      amount: 89.9,
      currency: 'EUR',
      status: 'refunded',
      refundId: 'R-1',
      row: 'A-1002,"Korhonen, Aino","Lamp 10"" brass",89.90,EUR,refunded,R-1',
    });
  });

  it('returns nothing for an unknown order', () => {
    expect(findOrder(orders, 'A-100')).toBeNull();
  });
});

describe('scriptFor', () => {
  it('refunds the paid amount of the named order', () => {
    expect(scriptFor('refund a-1001 please', orders)).toEqual([
      { tool: 'lookup_order', args: { order_id: 'A-1001' } },
      {
        tool: 'issue_refund',
        args: { order_id: 'A-1001', amount: 19.9, currency: 'EUR', reason: 'refund a-1001 please' },
      },
      { say: 'Order A-1001 is refunded. {result}' },
    ]);
  });

  it('lets the tool report an unknown order', () => {
    expect(scriptFor('refund A-9999', orders)).toEqual([
      { tool: 'lookup_order', args: { order_id: 'A-9999' } },
    ]);
  });

  it('answers anything else with what can be asked', () => {
    const [{ say }] = scriptFor('hello', orders) as [{ say: string }];
    expect(say).toMatch(/^I refund orders, such as: Please refund order A-1042/);
  });
});
