import { z } from 'zod';
import type { AlertList } from '../../alerts/alert-list.ts';
import { unknownAlert } from '../../errors/messages.ts';
import { routeOf } from '../../routes.ts';
import { holdsAt } from '../../transit/alert.ts';
import { describe, requiredText } from '../../transit/parameter.ts';
import { defineOperation } from '../operation.ts';
import { alertSchema, exampleAlert, mergeAlerts, toAlertBody } from './operation.ts';

/** `GET /v1/alerts/{alert_id}` */
export const createAlertOperation = ({ list }: { list: AlertList }) =>
  defineOperation({
    ...routeOf('getAlert'),
    tag: 'Stops',
    summary: 'An alert',
    description:
      'One disruption notice by its ID, as in the list: the `id` of `/v1/alerts`, and `alert_ids` of boards, journeys and lines. Notices that are not in force yet are found too. A notice whose text changes has another ID from then on.',
    query: z.object({
      alert_id: describe(
        requiredText('an alert ID such as nP3k9QzVx0').meta({ type: 'string' }),
        'An alert ID.',
        exampleAlert.id,
      ),
    }),
    body: alertSchema,
    example: { query: `alert_id=${exampleAlert.id}`, body: exampleAlert },
    tool: {
      description:
        'One disruption notice with its periods, stops, routes and runs, by an ID from `alert_ids` or listAlerts.',
    },

    async handle({ alert_id: alertId }, { queryUpstream, now }) {
      const { alerts, leftOut, freshness } = await list.load(queryUpstream);
      const at = now();
      const known = alerts.filter(({ id }) => id === alertId);
      const inForce = known.filter((alert) => holdsAt(alert, at));
      if (known.length === 0) throw unknownAlert(alertId);
      return { body: toAlertBody(mergeAlerts(inForce.length > 0 ? inForce : known), at), freshness, leftOut };
    },
  });
