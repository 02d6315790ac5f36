// Needs okhttp, okhttp-sse, kotlinx-coroutines and kotlinx-serialization-json.
import java.io.IOException
import java.time.Instant
import java.util.concurrent.TimeUnit
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.channels.awaitClose
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.callbackFlow
import kotlinx.coroutines.flow.flow
import kotlinx.serialization.SerialName
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.Json
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.Response
import okhttp3.sse.EventSource
import okhttp3.sse.EventSourceListener
import okhttp3.sse.EventSources

@Serializable
data class Board(
    @SerialName("stop_name") val stopName: String,
    @SerialName("retrieved_at") val retrievedAt: String,
    val departures: List<Departure>,
)

@Serializable
data class Departure(
    val route: String,
    val mode: String,
    val destination: String,
    val platform: String?,
    @SerialName("scheduled_at") val scheduledAt: String,
    @SerialName("realtime_at") val realtimeAt: String?,
    @SerialName("is_live") val isLive: Boolean,
) {
    /** Count down to this on the device; `minutes_away` is right only when the response is sent. */
    val leavesAt: Instant get() = Instant.parse(realtimeAt ?: scheduledAt)
}

class Refusal(val status: Int, val retryAfterSeconds: Int, body: String) : IOException(body)

private class Event(val id: String?, val type: String?, val data: String)

private val json = Json { ignoreUnknownKeys = true }

// A comment arrives every 15 seconds, so a longer silence means that the connection is lost.
private val client = OkHttpClient.Builder().readTimeout(40, TimeUnit.SECONDS).build()

/** Follows a board until collection ends. `getToken` returns a token from your own backend, a new one if asked to renew. */
fun followBoard(getToken: suspend (renew: Boolean) -> String): Flow<Board> = flow {
    var renew = false
    var lastId: String? = null
    while (true) {
        var wait = 5
        try {
            openStream(getToken(renew), lastId).collect { event ->
                renew = event.type == "end"
                if (event.type == "board") {
                    lastId = event.id
                    emit(json.decodeFromString<Board>(event.data))
                }
            }
        } catch (refusal: Refusal) {
            renew = refusal.status == 401
            if (!renew && refusal.status != 429 && refusal.status < 500) throw refusal
            wait = if (renew) 1 else refusal.retryAfterSeconds
        } catch (noNetwork: IOException) {
            // The last board stays on the screen, with its age.
        }
        delay(wait.seconds)
    }
}

private fun openStream(token: String, lastId: String?): Flow<Event> = callbackFlow {
    val request = Request.Builder()
        .url("http://localhost:3000/v1/departures/stream?stop=200070&modes=all")
        .header("Authorization", "Bearer $token")
        .apply { if (lastId != null) header("Last-Event-ID", lastId) }
        .build()
    val listener = object : EventSourceListener() {
        override fun onEvent(eventSource: EventSource, id: String?, type: String?, data: String) {
            trySend(Event(id, type, data))
        }

        override fun onClosed(eventSource: EventSource) {
            close()
        }

        override fun onFailure(eventSource: EventSource, t: Throwable?, response: Response?) {
            val refusal = response?.takeUnless { it.isSuccessful }?.let {
                Refusal(it.code, it.header("Retry-After")?.toIntOrNull() ?: 60, it.body?.string().orEmpty())
            }
            close(refusal ?: t as? IOException ?: IOException(t))
        }
    }
    val source = EventSources.createFactory(client).newEventSource(request, listener)
    awaitClose { source.cancel() }
}
