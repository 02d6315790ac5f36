// React Native has no EventSource and its fetch does not stream. This uses the package react-native-sse.
import { AppState } from 'react-native';
import EventSource from 'react-native-sse';

const URL_OF_BOARD = 'http://localhost:3000/v1/departures/stream?stop=200070&modes=all';

/**
 * Calls `onBoard` at each change while the app is in front. `fetchToken` gets a token from your own backend. Returns a function
 * that stops. Use it in useEffect.
 */
export function followBoard({ fetchToken, onBoard, onProblem }) {
  let stream = null;
  let isStopped = false;

  async function open() {
    close();
    const token = await fetchToken();
    if (isStopped || AppState.currentState !== 'active') return;
    const events = new EventSource(URL_OF_BOARD, {
      headers: { Authorization: `Bearer ${token}` },
      pollingInterval: 5000,
    });
    events.addEventListener('board', ({ data }) => onBoard(JSON.parse(data)));
    // The board is not available at present; the stream goes on.
    events.addEventListener('failure', ({ data }) => onProblem(JSON.parse(data).error));
    // The last event. Connecting again would bring it again.
    events.addEventListener('end', ({ data }) => {
      close();
      onProblem(JSON.parse(data).error);
    });
    events.addEventListener('error', ({ xhrStatus }) => {
      // The package repeats the request after a 429, a 5xx and without a network.
      if (xhrStatus < 400 || xhrStatus >= 500 || xhrStatus === 429) return;
      close();
      // The token has expired: connect with a new one.
      if (xhrStatus === 401) setTimeout(() => open().catch(onProblem), 5000);
    });
    stream = events;
  }

  function close() {
    stream?.removeAllEventListeners();
    stream?.close();
    stream = null;
  }

  // A stream in the background costs requests that nobody sees.
  const subscription = AppState.addEventListener('change', (state) => {
    if (state === 'active') open().catch(onProblem);
    else close();
  });
  open().catch(onProblem);
  return () => {
    isStopped = true;
    subscription.remove();
    close();
  };
}
