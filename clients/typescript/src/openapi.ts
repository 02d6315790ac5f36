// Generated from the OpenAPI description: npm run client -- clients/typescript/src/openapi.ts

export type ClientOptions = {
    baseUrl: `${string}://${string}` | (string & {});
};

/**
 * The shape of every error.
 */
export type ErrorResponse = {
    error: {
        /**
         * Machine-readable code
         */
        code: 'INVALID_PARAMETER' | 'DATE_OUT_OF_RANGE' | 'UNAUTHORIZED' | 'TOKEN_EXPIRED' | 'SUSPENDED' | 'ORIGIN_NOT_ALLOWED' | 'OPERATION_NOT_ALLOWED' | 'NOT_FOUND' | 'NO_JOURNEYS_FOUND' | 'STOP_NOT_FOUND' | 'LINE_NOT_FOUND' | 'CARPARK_NOT_FOUND' | 'ALERT_NOT_FOUND' | 'RUN_NOT_FOUND' | 'JOURNEY_NOT_FOUND' | 'METHOD_NOT_ALLOWED' | 'REQUEST_TIMEOUT' | 'BODY_TOO_LARGE' | 'UNSUPPORTED_MEDIA_TYPE' | 'TOO_MANY_REQUESTS' | 'DAILY_LIMIT_EXCEEDED' | 'VISITOR_LIMIT_EXCEEDED' | 'HEADERS_TOO_LARGE' | 'INTERNAL_ERROR' | 'UPSTREAM_ERROR' | 'SERVICE_UNAVAILABLE' | 'UPSTREAM_UNAVAILABLE' | 'CARPARKS_NOT_ENABLED' | 'UPSTREAM_TIMEOUT';
        /**
         * Human-readable message
         */
        message: string;
        /**
         * Page with the cause, fix and retry rule of this code
         */
        docs: string;
    };
};

/**
 * Departures of one stop.
 */
export type Departures = {
    /**
     * The requested stop ID
     */
    stop_id: string;
    /**
     * Stop name without suburb and platform; the stop ID if the stop has no name
     */
    stop_name: string;
    /**
     * Timestamp (UTC) of the oldest live data in this response
     */
    retrieved_at: string;
    /**
     * Sorted by best-known time; empty if nothing leaves
     */
    departures: Array<Departure>;
    /**
     * The texts of all alerts, keyed by ID. Only with `include=alert_texts`
     */
    alert_texts?: {
        [key: string]: unknown;
    };
};

/**
 * One vehicle leaving one stop at one time.
 */
export type Departure = {
    /**
     * Short route name
     */
    route: string;
    mode: Mode;
    /**
     * Headsign
     */
    destination: string;
    /**
     * Platform, stand or wharf; null if unknown
     */
    platform: string | null;
    /**
     * Scheduled departure, UTC
     */
    scheduled_at: string;
    /**
     * Estimated departure, UTC; null without live data
     */
    realtime_at: string | null;
    /**
     * Whole minutes until departure, by the best-known time, when the response is sent
     */
    minutes_away: number;
    /**
     * Whether the vehicle is tracked
     */
    is_live: boolean;
    /**
     * Whether the vehicle is wheelchair accessible. If nothing is known about the vehicle: whether the stop is, unless an alert says otherwise
     */
    wheelchair_accessible: boolean;
    /**
     * How full the vehicle is; null if unknown
     */
    occupancy: Occupancy | null;
    /**
     * Disruption notices, and a hint if the vehicle has no fixed times, as plain text; empty if there are none
     */
    alerts: Array<string>;
    /**
     * Live time minus planned time in seconds; null without live data. Only with `include=delay`
     */
    delay_seconds?: number | null;
    /**
     * Whether the service is cancelled; only with `cancelled=include`
     */
    cancelled?: boolean;
    /**
     * ID for `/v1/lines/{line_id}`; null on a walk and if the line is not in the timetable. Only with `include=ids`
     */
    line_id?: string | null;
    /**
     * The ID of the run, the same on boards and in journeys; null if unknown. Stable within a service day; another day may reuse it. Only with `include=ids`
     */
    trip_id?: string | null;
    /**
     * ID for `/v1/runs/{run_id}`; valid today only, null if unknown. Only with `include=ids`
     */
    run_id?: string | null;
    /**
     * IDs of the alerts; the same text has the same ID in every response. Only with `include=ids` or `include=alert_texts`
     */
    alert_ids?: Array<string>;
    /**
     * The colour of the line, else of its mode, as six hexadecimal digits without `#` (as in GTFS). Only with `include=colors`
     */
    color?: string;
    /**
     * The text colour for `color`: black or white. Only with `include=colors`
     */
    text_color?: string;
    /**
     * `live` if `occupancy` is reported for this vehicle, `usual` if it is what the timetable expects on this weekday; null if it is unknown. Only with `include=occupancy`
     */
    occupancy_source?: 'live' | 'usual' | null;
    /**
     * Whether the vehicle is wheelchair accessible; null if unknown. Only with `include=access`
     */
    vehicle_accessible?: boolean | null;
    /**
     * Whether at least one bicycle may be taken on board, by the timetable; null if unknown. Only with `include=access`
     */
    bikes_allowed?: boolean | null;
    /**
     * Whether the stop is wheelchair accessible; null if unknown. Only with `include=access`
     */
    stop_accessible?: boolean | null;
    /**
     * The headsign under which the vehicle goes on with its riders on board; null if it does not, or still shows the same place. Only with `include=through`
     */
    through_to?: string | null;
    /**
     * Planned arrival at `to`, UTC; null if unknown. Only with `to`
     */
    arrives_at?: string | null;
    /**
     * Estimated arrival at `to`, UTC; null without live data. Only with `to`
     */
    arrives_at_realtime?: string | null;
    usual?: Usual;
    /**
     * Predicted occupancy of each carriage when the train leaves this stop, front carriage first; null if unknown. Only with `include=carriages`
     */
    carriages?: Array<Carriage> | null;
    /**
     * Stops of the vehicle from here to the end of its run, in order, including this one; null if unknown. Only with `include=calls`
     */
    calls?: Array<Call> | null;
};

/**
 * The kind of vehicle
 */
export type Mode = 'train' | 'metro' | 'lightrail' | 'bus' | 'coach' | 'ferry' | 'schoolbus';

/**
 * How full a vehicle is
 */
export type Occupancy = 'MANY_SEATS' | 'FEW_SEATS' | 'STANDING_ONLY';

/**
 * How late this departure usually is, from the days before today; null if nothing is recorded. Only with `include=usual`
 */
export type Usual = {
    /**
     * `run`: departures of this line from this stop planned at the same minute, on the same kind of day (Monday to Friday, Saturday, Sunday). `hour`: those planned in the same hour, where fewer than five of them are recorded
     */
    based_on: 'run' | 'hour';
    /**
     * Number of runs behind these figures, cancelled ones included
     */
    runs: number;
    /**
     * Number of calls at stops with a known time
     */
    calls: number;
    /**
     * Number of calls that were cancelled or skipped
     */
    cancelled_calls: number;
    /**
     * Share of `calls` that were on time, a number from 0 to 1 with four decimals; null without any
     */
    on_time_share: number | null;
    /**
     * Median of the seconds after the timetable, by nearest rank; negative if early, null without `calls`
     */
    median_late_seconds: number | null;
    /**
     * 90th percentile of the same seconds; null without `calls`
     */
    p90_late_seconds: number | null;
    /**
     * Share of `cancelled_calls` in all recorded calls, a number from 0 to 1; null without any
     */
    cancelled_share: number | null;
} | null;

/**
 * One carriage of a train.
 */
export type Carriage = {
    /**
     * The number of the carriage in the train; 1 is at the front
     */
    position: number;
    /**
     * How full it is; null if unknown
     */
    occupancy: Occupancy | null;
};

/**
 * One stop of a ride.
 */
export type Call = {
    /**
     * The exact platform, stand or wharf; for other places the requested `lat,lng` or place ID
     */
    stop_id: string;
    /**
     * Stop name without the platform; never null: the ID if the stop has no name
     */
    name: string;
    /**
     * Platform, stand or wharf; null if unknown
     */
    platform: string | null;
    /**
     * Latitude in degrees, EPSG:4326; null if unknown
     */
    lat: number | null;
    /**
     * Longitude in degrees, EPSG:4326; null if unknown
     */
    lng: number | null;
    /**
     * Planned arrival, UTC; null if there is none
     */
    arrives_at: string | null;
    /**
     * Estimate, UTC; null without live data
     */
    arrives_at_realtime: string | null;
    /**
     * Planned departure, UTC; null if there is none
     */
    departs_at: string | null;
    /**
     * Estimate, UTC; null without live data
     */
    departs_at_realtime: string | null;
    /**
     * How full the vehicle is there; null if unknown
     */
    occupancy: Occupancy | null;
    /**
     * Live departure minus planned departure in seconds, at the last stop the arrival; null without live data. Only with `include=delay`
     */
    delay_seconds?: number | null;
    /**
     * `live` if `occupancy` is reported for this vehicle, `usual` if it is what the timetable expects on this weekday; null if it is unknown. Only with `include=occupancy`
     */
    occupancy_source?: 'live' | 'usual' | null;
    /**
     * Predicted occupancy of each carriage when the train leaves this stop, front carriage first; null if unknown. Only with `include=carriages`
     */
    carriages?: Array<Carriage> | null;
    /**
     * Whether the vehicle skips this stop; in a journey, present only when it does
     */
    cancelled?: boolean;
};

/**
 * Arrivals at one stop.
 */
export type Arrivals = {
    /**
     * The requested stop ID
     */
    stop_id: string;
    /**
     * Stop name without suburb and platform; the stop ID if the stop has no name
     */
    stop_name: string;
    /**
     * Timestamp (UTC) of the oldest live data in this response
     */
    retrieved_at: string;
    /**
     * Sorted by best-known time; empty if nothing arrives
     */
    arrivals: Array<Arrival>;
    /**
     * The texts of all alerts, keyed by ID. Only with `include=alert_texts`
     */
    alert_texts?: {
        [key: string]: unknown;
    };
};

/**
 * One vehicle arriving at one stop at one time.
 */
export type Arrival = {
    /**
     * Short route name
     */
    route: string;
    mode: Mode;
    /**
     * Headsign
     */
    destination: string;
    /**
     * Platform, stand or wharf; null if unknown
     */
    platform: string | null;
    /**
     * Scheduled arrival, UTC
     */
    scheduled_at: string;
    /**
     * Estimated arrival, UTC; null without live data
     */
    realtime_at: string | null;
    /**
     * Whole minutes until arrival, by the best-known time, when the response is sent
     */
    minutes_away: number;
    /**
     * Whether the vehicle is tracked
     */
    is_live: boolean;
    /**
     * Whether the vehicle is wheelchair accessible. If nothing is known about the vehicle: whether the stop is, unless an alert says otherwise
     */
    wheelchair_accessible: boolean;
    /**
     * How full the vehicle is; null if unknown
     */
    occupancy: Occupancy | null;
    /**
     * Disruption notices, and a hint if the vehicle has no fixed times, as plain text; empty if there are none
     */
    alerts: Array<string>;
    /**
     * Live time minus planned time in seconds; null without live data. Only with `include=delay`
     */
    delay_seconds?: number | null;
    /**
     * Whether the service is cancelled; only with `cancelled=include`
     */
    cancelled?: boolean;
    /**
     * ID for `/v1/lines/{line_id}`; null on a walk and if the line is not in the timetable. Only with `include=ids`
     */
    line_id?: string | null;
    /**
     * The ID of the run, the same on boards and in journeys; null if unknown. Stable within a service day; another day may reuse it. Only with `include=ids`
     */
    trip_id?: string | null;
    /**
     * IDs of the alerts; the same text has the same ID in every response. Only with `include=ids` or `include=alert_texts`
     */
    alert_ids?: Array<string>;
    /**
     * The colour of the line, else of its mode, as six hexadecimal digits without `#` (as in GTFS). Only with `include=colors`
     */
    color?: string;
    /**
     * The text colour for `color`: black or white. Only with `include=colors`
     */
    text_color?: string;
    /**
     * Whether the vehicle is wheelchair accessible; null if unknown. Only with `include=access`
     */
    vehicle_accessible?: boolean | null;
    /**
     * Whether at least one bicycle may be taken on board, by the timetable; null if unknown. Only with `include=access`
     */
    bikes_allowed?: boolean | null;
    /**
     * Whether the stop is wheelchair accessible; null if unknown. Only with `include=access`
     */
    stop_accessible?: boolean | null;
    /**
     * The first stop that the run serves today; null if unknown
     */
    origin: string | null;
};

/**
 * Departures of several stops.
 */
export type Boards = {
    /**
     * One entry per stop; empty if there is no stop around `near`
     */
    boards: Array<Board | BoardFailure>;
};

/**
 * Departures of one of several stops.
 */
export type Board = {
    /**
     * The requested stop ID
     */
    stop_id: string;
    /**
     * Stop name without suburb and platform; the stop ID if the stop has no name
     */
    stop_name: string;
    /**
     * Timestamp (UTC) of the oldest live data in this response
     */
    retrieved_at: string;
    /**
     * Sorted by best-known time; empty if nothing leaves
     */
    departures: Array<Departure>;
    /**
     * The texts of all alerts, keyed by ID. Only with `include=alert_texts`
     */
    alert_texts?: {
        [key: string]: unknown;
    };
    /**
     * Distance from `near` to the nearest platform in metres. Only with `near`
     */
    distance_metres?: number;
    /**
     * Latitude of the stop in degrees; null if unknown. Only with `near`
     */
    lat?: number | null;
    /**
     * Longitude of the stop in degrees; null if unknown. Only with `near`
     */
    lng?: number | null;
};

/**
 * A stop whose departures are unavailable.
 */
export type BoardFailure = {
    /**
     * The requested stop ID
     */
    stop_id: string;
    /**
     * The error that a request for this stop alone would return
     */
    error: {
        /**
         * For programs
         */
        code: 'INVALID_PARAMETER' | 'DATE_OUT_OF_RANGE' | 'UNAUTHORIZED' | 'TOKEN_EXPIRED' | 'SUSPENDED' | 'ORIGIN_NOT_ALLOWED' | 'OPERATION_NOT_ALLOWED' | 'NOT_FOUND' | 'NO_JOURNEYS_FOUND' | 'STOP_NOT_FOUND' | 'LINE_NOT_FOUND' | 'CARPARK_NOT_FOUND' | 'ALERT_NOT_FOUND' | 'RUN_NOT_FOUND' | 'JOURNEY_NOT_FOUND' | 'METHOD_NOT_ALLOWED' | 'REQUEST_TIMEOUT' | 'BODY_TOO_LARGE' | 'UNSUPPORTED_MEDIA_TYPE' | 'TOO_MANY_REQUESTS' | 'DAILY_LIMIT_EXCEEDED' | 'VISITOR_LIMIT_EXCEEDED' | 'HEADERS_TOO_LARGE' | 'INTERNAL_ERROR' | 'UPSTREAM_ERROR' | 'SERVICE_UNAVAILABLE' | 'UPSTREAM_UNAVAILABLE' | 'CARPARKS_NOT_ENABLED' | 'UPSTREAM_TIMEOUT';
        /**
         * For people
         */
        message: string;
        /**
         * Documentation of this code: cause, fix and when to retry
         */
        docs: string;
    };
    /**
     * Distance from `near` to the nearest platform in metres. Only with `near`
     */
    distance_metres?: number;
    /**
     * Latitude of the stop in degrees; null if unknown. Only with `near`
     */
    lat?: number | null;
    /**
     * Longitude of the stop in degrees; null if unknown. Only with `near`
     */
    lng?: number | null;
};

/**
 * Stops near a place that are served.
 */
export type NearbyStops = {
    /**
     * The requested location
     */
    location: {
        /**
         * Latitude in degrees, EPSG:4326
         */
        lat: number;
        /**
         * Longitude in degrees, EPSG:4326
         */
        lng: number;
    };
    /**
     * Sorted by distance, nearest first
     */
    stops: Array<NearbyStop>;
};

/**
 * A stop near a place.
 */
export type NearbyStop = {
    /**
     * Stop ID
     */
    stop_id: string;
    /**
     * Stop name with its suburb
     */
    name: string;
    /**
     * Distance from the requested location to the nearest platform in metres
     */
    distance_metres: number;
    /**
     * Latitude in degrees, EPSG:4326; null if unknown
     */
    lat: number | null;
    /**
     * Longitude in degrees, EPSG:4326; null if unknown
     */
    lng: number | null;
    /**
     * The modes that stop there
     */
    modes: Array<Mode>;
    /**
     * Reserved, always empty
     */
    routes: Array<string>;
    /**
     * Platforms within the radius, nearest first. Only with `include=ids`
     */
    children?: Array<string>;
    /**
     * Car parks of the stop; null if currently unknown. Only with `include=carparks`
     */
    carparks?: Array<CarPark> | null;
};

/**
 * A car park at a stop, with its last reading.
 */
export type CarPark = {
    /**
     * ID of the car park
     */
    carpark_id: string;
    /**
     * Name of the car park
     */
    name: string;
    /**
     * Suburb or locality; empty if unknown
     */
    suburb: string;
    /**
     * Street of the entrance; empty if unknown
     */
    address: string;
    /**
     * Latitude in degrees, EPSG:4326; null if unknown
     */
    lat: number | null;
    /**
     * Longitude in degrees, EPSG:4326; null if unknown
     */
    lng: number | null;
    /**
     * The stop that it belongs to; null if unknown
     */
    stop_id: string | null;
    /**
     * Name of that stop; null if unknown
     */
    stop_name: string | null;
    /**
     * Number of spaces; null if unknown
     */
    capacity: number | null;
    /**
     * Free spaces, from 0 to `capacity`; null without a reading of the last 15 minutes
     */
    spaces_free: number | null;
    /**
     * The last half hour: `steady` if less than 2 % of the spaces changed. Null without a reading of half an hour ago
     */
    trend: 'filling' | 'emptying' | 'steady' | null;
    /**
     * Number of free spaces now, less that of half an hour ago; null if `trend` is
     */
    spaces_change: number | null;
    /**
     * When the car park last reported, however long ago, UTC; null if unknown
     */
    reported_at: string | null;
};

/**
 * Stops found by name.
 */
export type SearchResults = {
    /**
     * The query as received
     */
    query: string;
    /**
     * Sorted by match, best first
     */
    results: Array<SearchResult>;
};

/**
 * A stop whose name matches.
 */
export type SearchResult = {
    /**
     * Stop ID
     */
    stop_id: string;
    /**
     * Stop name with its suburb
     */
    name: string;
    /**
     * Suburb or locality; an empty string if unknown
     */
    suburb: string;
    /**
     * Latitude in degrees, EPSG:4326; null if unknown
     */
    lat: number | null;
    /**
     * Longitude in degrees, EPSG:4326; null if unknown
     */
    lng: number | null;
    /**
     * The modes that stop there; an empty list if unknown
     */
    modes: Array<Mode>;
};

/**
 * Stops, points of interest, addresses, streets and suburbs found by name.
 */
export type Places = {
    /**
     * The query as received
     */
    query: string;
    /**
     * Sorted by match, best first
     */
    results: Array<Place>;
};

/**
 * A stop or another place whose name matches.
 */
export type Place = {
    /**
     * Accepted by `/v1/trips` as `from` and `to`; percent-encode it in a URL. For a stop, its stop ID
     */
    id: string;
    /**
     * A stop, a point of interest, an address with its house number, a street, or a suburb
     */
    type: 'stop' | 'poi' | 'address' | 'street' | 'suburb';
    /**
     * Name with its suburb
     */
    name: string;
    /**
     * Suburb or locality; empty if unknown
     */
    suburb: string;
    /**
     * Latitude in degrees, EPSG:4326; null if unknown
     */
    lat: number | null;
    /**
     * Longitude in degrees, EPSG:4326; null if unknown
     */
    lng: number | null;
    /**
     * The modes of a stop, as far as they are known; else empty
     */
    modes: Array<Mode>;
};

/**
 * The stops of an area.
 */
export type StopList = {
    /**
     * The stops; not with `format=geojson`
     */
    stops?: Array<ListedStop>;
    /**
     * Only with `format=geojson`
     */
    type?: 'FeatureCollection';
    /**
     * The stops; only with `format=geojson`
     */
    features?: Array<StopFeature>;
    /**
     * Number of stops in the area. If it exceeds `limit`, not all are listed
     */
    total: number;
};

/**
 * A stop of the stored list.
 */
export type ListedStop = {
    /**
     * Stop ID
     */
    stop_id: string;
    /**
     * Stop name, with its suburb if known
     */
    name: string;
    /**
     * Suburb or locality; empty if unknown
     */
    suburb: string;
    /**
     * Latitude in degrees, EPSG:4326
     */
    lat: number;
    /**
     * Longitude in degrees, EPSG:4326
     */
    lng: number;
    /**
     * The modes that stop there, as far as they are known
     */
    modes: Array<Mode>;
    /**
     * The stop that a platform belongs to; null if there is none or it is unknown
     */
    parent_stop_id: string | null;
};

/**
 * A stop as GeoJSON.
 */
export type StopFeature = {
    /**
     * As GeoJSON has it
     */
    type: 'Feature';
    /**
     * Stop ID
     */
    id: string;
    /**
     * The position of the stop
     */
    geometry: {
        /**
         * As GeoJSON has it
         */
        type: 'Point';
        /**
         * Longitude and latitude in degrees
         */
        coordinates: [
            number,
            number
        ];
    };
    /**
     * The other fields of the stop
     */
    properties: {
        /**
         * Stop ID
         */
        stop_id: string;
        /**
         * Stop name, with its suburb if known
         */
        name: string;
        /**
         * Suburb or locality; empty if unknown
         */
        suburb: string;
        /**
         * The modes that stop there, as far as they are known
         */
        modes: Array<Mode>;
        /**
         * The stop that a platform belongs to; null if there is none or it is unknown
         */
        parent_stop_id: string | null;
    };
};

/**
 * A stop with its platforms and lines.
 */
export type Stop = {
    /**
     * Stop ID
     */
    stop_id: string;
    /**
     * Stop name, with its suburb if known
     */
    name: string;
    /**
     * Suburb or locality; empty if unknown
     */
    suburb: string;
    /**
     * The modes that stop there, as far as they are known
     */
    modes: Array<Mode>;
    /**
     * The stop that a platform belongs to; null if there is none or it is unknown
     */
    parent_stop_id: string | null;
    /**
     * Latitude in degrees, EPSG:4326; null if unknown
     */
    lat: number | null;
    /**
     * Longitude in degrees, EPSG:4326; null if unknown
     */
    lng: number | null;
    /**
     * Whether a wheelchair can board there, according to the timetable; null if unknown
     */
    wheelchair_accessible: boolean | null;
    /**
     * The stop that a platform belongs to; null if there is none or it is unknown
     */
    parent: {
        /**
         * Stop ID
         */
        stop_id: string;
        /**
         * Stop name with its suburb
         */
        name: string;
    } | null;
    /**
     * Sorted by name; empty if none is known
     */
    platforms: Array<StopPlatform>;
    /**
     * Lines that leave here within a week, sorted by mode and name; null if currently unknown
     */
    lines: Array<StopLine> | null;
    /**
     * Car parks of the stop; null if currently unknown. Only with `include=carparks`
     */
    carparks?: Array<CarPark> | null;
};

/**
 * A platform, stand or wharf of a stop.
 */
export type StopPlatform = {
    /**
     * ID of the platform
     */
    stop_id: string;
    /**
     * Its name
     */
    name: string;
    /**
     * Latitude in degrees, EPSG:4326
     */
    lat: number;
    /**
     * Longitude in degrees, EPSG:4326
     */
    lng: number;
    /**
     * The modes that stop there, as far as they are known
     */
    modes: Array<Mode>;
    /**
     * Whether a wheelchair can board there, according to the timetable; null if unknown
     */
    wheelchair_accessible: boolean | null;
};

/**
 * A line that leaves a stop.
 */
export type StopLine = {
    /**
     * ID for `/v1/lines/{line_id}`; null if the line is not in the timetable
     */
    line_id: string | null;
    /**
     * Short route name
     */
    route: string;
    mode: Mode;
    /**
     * The colour of the line, or of its mode, as in GTFS
     */
    color: string;
    /**
     * The text colour for it: black or white
     */
    text_color: string;
    /**
     * Headsigns of the line at this stop
     */
    headsigns: Array<string>;
};

/**
 * Lines of the timetable.
 */
export type Lines = {
    /**
     * Best match first, then by mode and short name
     */
    lines: Array<ListedLine>;
    /**
     * Number of lines that match. If it exceeds `limit`, not all are listed
     */
    total: number;
};

/**
 * A line.
 */
export type ListedLine = {
    /**
     * ID for `/v1/lines/{line_id}`; stays the same when the timetable is renewed
     */
    line_id: string;
    /**
     * Short route name
     */
    route: string;
    /**
     * Full name: that of the line or, for buses and coaches, its course
     */
    name: string;
    mode: Mode;
    /**
     * Operator; null if unknown
     */
    operator: string | null;
    /**
     * The colour of the line, or of its mode, as in GTFS
     */
    color: string;
    /**
     * The text colour for it: black or white
     */
    text_color: string;
};

/**
 * The status of lines.
 */
export type LineStatuses = {
    /**
     * Timestamp (UTC) of the oldest live data in this response
     */
    retrieved_at: string;
    /**
     * Sorted by mode and short name
     */
    lines: Array<LineStatus>;
    /**
     * Number of lines that match. If it exceeds `limit`, not all are listed
     */
    total: number;
};

/**
 * How a line runs now.
 */
export type LineStatus = {
    /**
     * ID for `/v1/lines/{line_id}`; stays the same when the timetable is renewed
     */
    line_id: string;
    /**
     * Short route name
     */
    route: string;
    /**
     * Full name: that of the line or, for buses and coaches, its course
     */
    name: string;
    mode: Mode;
    /**
     * Operator; null if unknown
     */
    operator: string | null;
    /**
     * The colour of the line, or of its mode, as in GTFS
     */
    color: string;
    /**
     * The text colour for it: black or white
     */
    text_color: string;
    /**
     * `suspended`, `part_closed`, `severe_delays`, `minor_delays` or `good_service`; null if unknown: no feed is read for the line, or nothing of it is under way or tracked
     */
    status: 'suspended' | 'part_closed' | 'severe_delays' | 'minor_delays' | 'good_service' | null;
    /**
     * Alerts in force for the whole line
     */
    alerts: Array<string>;
    /**
     * IDs of these alerts, for `/v1/alerts/{alert_id}`
     */
    alert_ids: Array<string>;
    /**
     * Number of planned runs that are under way or leave within 30 minutes
     */
    runs: number;
    /**
     * Of these, number of runs with a live time; null if no feed is read for the line
     */
    tracked_runs: number | null;
    /**
     * Number of tracked runs that are 5 minutes late or more; null if no feed is read for the line
     */
    late_runs: number | null;
    /**
     * Number of runs that are cancelled; null if no feed is read for the line
     */
    cancelled_runs: number | null;
    /**
     * Share of the tracked runs that are late, a number from 0 to 1; null if unknown
     */
    late_share: number | null;
    /**
     * Share of the runs that are cancelled, a number from 0 to 1; null if unknown
     */
    cancelled_share: number | null;
};

/**
 * A line with its directions, stops and alerts.
 */
export type Line = {
    /**
     * ID for `/v1/lines/{line_id}`; stays the same when the timetable is renewed
     */
    line_id: string;
    /**
     * Short route name
     */
    route: string;
    /**
     * Full name: that of the line or, for buses and coaches, its course
     */
    name: string;
    mode: Mode;
    /**
     * Operator; null if unknown
     */
    operator: string | null;
    /**
     * The colour of the line, or of its mode, as in GTFS
     */
    color: string;
    /**
     * The text colour for it: black or white
     */
    text_color: string;
    /**
     * The service day
     */
    date: string;
    /**
     * One or two directions, with the stops of this day or, if none runs, of all days
     */
    directions: Array<LineDirection>;
    /**
     * Alerts now in force for the whole line; `/v1/alerts` also has those for single stops and runs
     */
    alerts: Array<string>;
    /**
     * IDs of these alerts, as in /v1/alerts
     */
    alert_ids: Array<string>;
    /**
     * Only with `format=geojson`
     */
    type?: 'FeatureCollection';
    /**
     * The course of each direction; only with `format=geojson`
     */
    features?: Array<LineFeature>;
};

/**
 * One direction of a line on a day.
 */
export type LineDirection = {
    /**
     * Direction number, 0 or 1; the same for all runs in one direction
     */
    direction_id: number;
    /**
     * Headsigns, most frequent first
     */
    headsigns: Array<string>;
    /**
     * Number of runs on this day
     */
    runs: number;
    /**
     * When the first run of the day starts, UTC; null if none runs
     */
    first_departure_at: string | null;
    /**
     * When the last run of the day starts, UTC; null if none runs
     */
    last_departure_at: string | null;
    /**
     * Median minutes between departures, at the stop with most of them; null with fewer than two departures
     */
    headway_minutes: number | null;
    /**
     * All stops of this direction in order; branches follow one another. A stop that loops call at twice is listed twice
     */
    stops: Array<LineStop>;
};

/**
 * A stop of a line.
 */
export type LineStop = {
    /**
     * The station, wharf or street stop
     */
    stop_id: string;
    /**
     * Stop name
     */
    name: string;
    /**
     * Latitude in degrees, EPSG:4326
     */
    lat: number;
    /**
     * Longitude in degrees, EPSG:4326
     */
    lng: number;
};

/**
 * The course of a direction as GeoJSON.
 */
export type LineFeature = {
    /**
     * As GeoJSON has it
     */
    type: 'Feature';
    /**
     * The course, simplified for maps; straight between stops if unknown
     */
    geometry: {
        /**
         * As GeoJSON has it
         */
        type: 'MultiLineString';
        /**
         * Longitude and latitude in degrees
         */
        coordinates: Array<Array<[
            number,
            number
        ]>>;
    };
    /**
     * Properties for drawing the course
     */
    properties: {
        /**
         * Direction number, 0 or 1; the same for all runs in one direction
         */
        direction_id: number;
        /**
         * Headsigns, most frequent first
         */
        headsigns: Array<string>;
        /**
         * Short route name
         */
        route: string;
        mode: Mode;
        /**
         * The colour of the line, or of its mode, as in GTFS
         */
        color: string;
        /**
         * The text colour for it: black or white
         */
        text_color: string;
    };
};

/**
 * The timetable of a line on a day.
 */
export type LineTimetable = {
    /**
     * ID for `/v1/lines/{line_id}`; stays the same when the timetable is renewed
     */
    line_id: string;
    /**
     * Short route name
     */
    route: string;
    /**
     * Full name: that of the line or, for buses and coaches, its course
     */
    name: string;
    mode: Mode;
    /**
     * Operator; null if unknown
     */
    operator: string | null;
    /**
     * The colour of the line, or of its mode, as in GTFS
     */
    color: string;
    /**
     * The text colour for it: black or white
     */
    text_color: string;
    /**
     * The service day
     */
    date: string;
    /**
     * One or two directions
     */
    directions: Array<TimetableDirection>;
};

/**
 * The table of one direction: stops are rows, runs columns.
 */
export type TimetableDirection = {
    /**
     * Direction number, 0 or 1; the same for all runs in one direction
     */
    direction_id: number;
    /**
     * Headsigns, most frequent first
     */
    headsigns: Array<string>;
    /**
     * All stops of this direction in order; branches follow one another. A stop that loops call at twice is listed twice
     */
    stops: Array<LineStop>;
    /**
     * In order of departure; empty if none runs
     */
    runs: Array<TimetableRun>;
    /**
     * Number of runs that match. If it exceeds `limit`, not all are listed
     */
    total: number;
};

/**
 * A run: one column of the timetable.
 */
export type TimetableRun = {
    /**
     * Run ID, as in `trip_id` of boards and journeys with `include=ids`; null if unknown
     */
    trip_id: string | null;
    /**
     * ID for `/v1/runs/{run_id}`, which has live times on the day; null if unknown
     */
    run_id: string | null;
    /**
     * Headsign at the first stop
     */
    headsign: string;
    /**
     * Planned departure from each of `stops`, UTC; at the last stop of the run its arrival; null where it does not stop
     */
    times: Array<string | null>;
};

/**
 * How punctual a line was.
 */
export type Punctuality = {
    /**
     * ID for `/v1/lines/{line_id}`; stays the same when the timetable is renewed
     */
    line_id: string;
    /**
     * Short route name
     */
    route: string;
    mode: Mode;
    /**
     * The requested stop; null for all
     */
    stop_id: string | null;
    /**
     * When the first run that this service has recorded began, of any line, UTC; null if there is none yet
     */
    recorded_since: string | null;
    /**
     * Number of service days with calls in these figures. Days and hours without feeds are missing
     */
    recorded_days: number;
    /**
     * The first of these days; null if there is none
     */
    first_day: string | null;
    /**
     * The last of these days; null if there is none
     */
    last_day: string | null;
    on_time_rule: OnTimeRule;
    /**
     * Number of runs behind these figures, cancelled ones included
     */
    runs: number;
    /**
     * Number of calls at stops with a known time
     */
    calls: number;
    /**
     * Number of calls that were cancelled or skipped
     */
    cancelled_calls: number;
    /**
     * Share of `calls` that were on time, a number from 0 to 1 with four decimals; null without any
     */
    on_time_share: number | null;
    /**
     * Median of the seconds after the timetable, by nearest rank; negative if early, null without `calls`
     */
    median_late_seconds: number | null;
    /**
     * 90th percentile of the same seconds; null without `calls`
     */
    p90_late_seconds: number | null;
    /**
     * Share of `cancelled_calls` in all recorded calls, a number from 0 to 1; null without any
     */
    cancelled_share: number | null;
    /**
     * Monday first, without days on which nothing was recorded
     */
    by_weekday: Array<WeekdayPunctuality>;
    /**
     * In order, without hours in which nothing was recorded
     */
    by_hour: Array<HourPunctuality>;
};

/**
 * What counts as on time.
 */
export type OnTimeRule = {
    /**
     * A call is on time from this many seconds after the timetable (negative: before it); null: at any time before
     */
    earliest_seconds: number | null;
    /**
     * A call is on time up to this many seconds after the timetable
     */
    latest_seconds: number;
    /**
     * Where the rule is from, and how the source counts
     */
    source: string;
};

/**
 * Figures of one day of the week.
 */
export type WeekdayPunctuality = {
    /**
     * Day of the week in Sydney
     */
    weekday: 'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun';
    /**
     * Number of runs behind these figures, cancelled ones included
     */
    runs: number;
    /**
     * Number of calls at stops with a known time
     */
    calls: number;
    /**
     * Number of calls that were cancelled or skipped
     */
    cancelled_calls: number;
    /**
     * Share of `calls` that were on time, a number from 0 to 1 with four decimals; null without any
     */
    on_time_share: number | null;
    /**
     * Median of the seconds after the timetable, by nearest rank; negative if early, null without `calls`
     */
    median_late_seconds: number | null;
    /**
     * 90th percentile of the same seconds; null without `calls`
     */
    p90_late_seconds: number | null;
    /**
     * Share of `cancelled_calls` in all recorded calls, a number from 0 to 1; null without any
     */
    cancelled_share: number | null;
};

/**
 * Figures of one hour of the day.
 */
export type HourPunctuality = {
    /**
     * Number of the hour in Sydney, 0 from midnight
     */
    hour: number;
    /**
     * Number of runs behind these figures, cancelled ones included
     */
    runs: number;
    /**
     * Number of calls at stops with a known time
     */
    calls: number;
    /**
     * Number of calls that were cancelled or skipped
     */
    cancelled_calls: number;
    /**
     * Share of `calls` that were on time, a number from 0 to 1 with four decimals; null without any
     */
    on_time_share: number | null;
    /**
     * Median of the seconds after the timetable, by nearest rank; negative if early, null without `calls`
     */
    median_late_seconds: number | null;
    /**
     * 90th percentile of the same seconds; null without `calls`
     */
    p90_late_seconds: number | null;
    /**
     * Share of `cancelled_calls` in all recorded calls, a number from 0 to 1; null without any
     */
    cancelled_share: number | null;
};

/**
 * Journeys between two places.
 */
export type Trips = {
    origin: StopReference;
    destination: StopReference;
    /**
     * When Transport for NSW responded, UTC
     */
    retrieved_at: string;
    /**
     * Sorted by best-known departure, then journeys with `lifts_out`, then cancelled ones; never empty without `cursor`
     */
    journeys: Array<Journey>;
    /**
     * The texts of all alerts, keyed by ID. Only with `include=alert_texts`
     */
    alert_texts?: {
        [key: string]: unknown;
    };
};

/**
 * A stop or place with its name.
 */
export type StopReference = {
    /**
     * As requested: a stop ID, a place `id`, or `lat,lng`
     */
    stop_id: string;
    /**
     * Name of the stop or place; for a position its address or, if unknown, `lat,lng`
     */
    name: string;
};

/**
 * A way to get from one place to another.
 */
export type Journey = {
    /**
     * ID for `/v1/trips/{journey_id}`; stays valid across restarts. Null for a walk, a ride that must be booked and a journey with very many legs. Only with `include=ids`
     */
    journey_id?: string | null;
    /**
     * Planned start, UTC
     */
    departs_at: string;
    /**
     * Planned end, UTC
     */
    arrives_at: string;
    /**
     * Estimate, UTC; null without live data
     */
    departs_at_realtime: string | null;
    /**
     * Estimate, UTC; null without live data
     */
    arrives_at_realtime: string | null;
    /**
     * Whole minutes by the best-known times
     */
    duration_minutes: number;
    /**
     * Number of changes between rides
     */
    changes: number;
    /**
     * Whether any leg is tracked
     */
    is_live: boolean;
    /**
     * In order; each begins where the one before ended
     */
    legs: Array<Leg>;
    /**
     * The changes between rides, in order, each with the time to spare. Only with `include=changes`
     */
    change_ratings?: Array<ChangeRating>;
    /**
     * Stops where the journey boards or alights and a lift is out of service; null if no alerts are known. Only with `wheelchair=true`
     */
    lifts_out?: Array<{
        /**
         * Stop or platform ID
         */
        stop_id: string;
        /**
         * Stop name
         */
        name: string;
        /**
         * The alert in `/v1/alerts`
         */
        alert_id: string;
    }> | null;
    /**
     * Whether the service is cancelled; only with `cancelled=include`
     */
    cancelled?: boolean;
};

/**
 * One ride or one walk of a journey.
 */
export type Leg = {
    mode: LegMode;
    /**
     * Short route name; null on a walk
     */
    route: string | null;
    /**
     * Full line name; null on a walk
     */
    line_name: string | null;
    /**
     * Headsign; null on a walk
     */
    direction: string | null;
    origin: LegOrigin;
    destination: LegDestination;
    /**
     * Whole minutes by the best-known times
     */
    duration_minutes: number;
    /**
     * Length of a walk in metres, at least the straight-line distance; null on a ride, and if unknown
     */
    distance_metres: number | null;
    /**
     * Number of stops between the ends, without stations that a train passes; 0 on a walk
     */
    stops: number;
    /**
     * Whether the vehicle is tracked; false on a walk
     */
    is_live: boolean;
    /**
     * `[lat, lng]` pairs, ready for a map polyline; empty with `path=polyline` and `path=none`
     */
    path: Array<[
        number,
        number
    ]>;
    /**
     * The path as an encoded polyline, precision 5; only with `path=polyline`
     */
    polyline?: string;
    /**
     * Disruption notices and hints for the ride (gates that close early, carriages to board, bookings required, no fixed times) as plain text; empty if there are none
     */
    alerts: Array<string>;
    /**
     * Whether the service is cancelled; only with `cancelled=include`
     */
    cancelled?: boolean;
    /**
     * ID for `/v1/lines/{line_id}`; null on a walk and if the line is not in the timetable. Only with `include=ids`
     */
    line_id?: string | null;
    /**
     * The ID of the run, the same on boards and in journeys; null if unknown. Stable within a service day; another day may reuse it. Only with `include=ids`
     */
    trip_id?: string | null;
    /**
     * ID for `/v1/runs/{run_id}`; valid today only, null if unknown. Only with `include=ids`
     */
    run_id?: string | null;
    /**
     * IDs of the alerts; the same text has the same ID in every response. Only with `include=ids` or `include=alert_texts`
     */
    alert_ids?: Array<string>;
    /**
     * The colour of the line, else of its mode, as six hexadecimal digits without `#` (as in GTFS). Only with `include=colors`; null on a walk
     */
    color?: string | null;
    /**
     * The text colour for `color`: black or white. Only with `include=colors`; null on a walk
     */
    text_color?: string | null;
    /**
     * Whether the ride must be booked and its times are indicative. Only with `include=ids`
     */
    on_demand?: boolean;
    /**
     * Whether the vehicle is wheelchair accessible; null if unknown. Only with `include=access`
     */
    vehicle_accessible?: boolean | null;
    /**
     * Whether at least one bicycle may be taken on board, by the timetable; null if unknown. Only with `include=access`
     */
    bikes_allowed?: boolean | null;
    /**
     * Whether the ride must be booked; false on a walk. Only with `include=access`
     */
    needs_booking?: boolean;
    /**
     * The headsign under which the vehicle goes on with its riders on board; null if it does not, or still shows the same place. Only with `include=through`
     */
    through_to?: string | null;
    /**
     * Predicted occupancy of each carriage when the train leaves this stop, front carriage first; null if unknown. Only with `include=carriages`
     */
    carriages?: Array<Carriage> | null;
    /**
     * Stops of the vehicle in order, including both ends, without stations that it passes; empty on a walk, null if unknown. Only with `include=calls`
     */
    calls?: Array<Call> | null;
    usual?: Usual;
    /**
     * The next two departures that do the same leg, by best-known times, live like those of `/v1/departures`. They leave no earlier than the ride and within a day of it, match the filters of the request, and miss no change of the journey. Empty on a walk and if there are none; null if the timetable lacks a stop of the ride. Only with `include=alternatives`
     */
    alternatives?: Array<Alternative> | null;
};

/**
 * The kind of vehicle, or a walk
 */
export type LegMode = 'train' | 'metro' | 'lightrail' | 'bus' | 'coach' | 'ferry' | 'schoolbus' | 'walk';

/**
 * Where a leg starts.
 */
export type LegOrigin = {
    /**
     * The exact platform, stand or wharf; for other places the requested `lat,lng` or place ID
     */
    stop_id: string;
    /**
     * Stop name without the platform; never null: the ID if the stop has no name
     */
    name: string;
    /**
     * Platform, stand or wharf; null if unknown
     */
    platform: string | null;
    /**
     * Latitude in degrees, EPSG:4326
     */
    lat: number;
    /**
     * Longitude in degrees, EPSG:4326
     */
    lng: number;
    /**
     * Planned departure, UTC
     */
    departs_at: string;
    /**
     * Estimate, UTC; null without live data
     */
    departs_at_realtime: string | null;
    /**
     * Live time minus planned time in seconds; null without live data. Only with `include=delay`
     */
    delay_seconds?: number | null;
    /**
     * The stop that the platform belongs to; null if the place is not a platform. Only with `include=ids`
     */
    parent_stop_id?: string | null;
    /**
     * Whether the stop is wheelchair accessible; null if unknown. Only with `include=access`
     */
    stop_accessible?: boolean | null;
};

/**
 * Where a leg ends.
 */
export type LegDestination = {
    /**
     * The exact platform, stand or wharf; for other places the requested `lat,lng` or place ID
     */
    stop_id: string;
    /**
     * Stop name without the platform; never null: the ID if the stop has no name
     */
    name: string;
    /**
     * Platform, stand or wharf; null if unknown
     */
    platform: string | null;
    /**
     * Latitude in degrees, EPSG:4326
     */
    lat: number;
    /**
     * Longitude in degrees, EPSG:4326
     */
    lng: number;
    /**
     * Planned arrival, UTC
     */
    arrives_at: string;
    /**
     * Estimate, UTC; null without live data
     */
    arrives_at_realtime: string | null;
    /**
     * Live time minus planned time in seconds; null without live data. Only with `include=delay`
     */
    delay_seconds?: number | null;
    /**
     * The stop that the platform belongs to; null if the place is not a platform. Only with `include=ids`
     */
    parent_stop_id?: string | null;
    /**
     * Whether the stop is wheelchair accessible; null if unknown. Only with `include=access`
     */
    stop_accessible?: boolean | null;
};

/**
 * Another departure that does the same leg.
 */
export type Alternative = {
    /**
     * Short route name
     */
    route: string;
    mode: Mode;
    /**
     * Headsign
     */
    destination: string;
    /**
     * Platform, stand or wharf; null if unknown
     */
    platform: string | null;
    /**
     * Scheduled departure, UTC
     */
    scheduled_at: string;
    /**
     * Estimated departure, UTC; null without live data
     */
    realtime_at: string | null;
    /**
     * Whole minutes until departure, by the best-known time, when the response is sent
     */
    minutes_away: number;
    /**
     * Whether the vehicle is tracked
     */
    is_live: boolean;
    /**
     * Whether the vehicle is wheelchair accessible. If nothing is known about the vehicle: whether the stop is, unless an alert says otherwise
     */
    wheelchair_accessible: boolean;
    /**
     * How full the vehicle is; null if unknown
     */
    occupancy: Occupancy | null;
    /**
     * Disruption notices, and a hint if the vehicle has no fixed times, as plain text; empty if there are none
     */
    alerts: Array<string>;
    /**
     * Live time minus planned time in seconds; null without live data. Only with `include=delay`
     */
    delay_seconds?: number | null;
    /**
     * ID for `/v1/lines/{line_id}`; null on a walk and if the line is not in the timetable. Only with `include=ids`
     */
    line_id?: string | null;
    /**
     * The ID of the run, the same on boards and in journeys; null if unknown. Stable within a service day; another day may reuse it. Only with `include=ids`
     */
    trip_id?: string | null;
    /**
     * ID for `/v1/runs/{run_id}`; valid today only, null if unknown. Only with `include=ids`
     */
    run_id?: string | null;
    /**
     * IDs of the alerts; the same text has the same ID in every response. Only with `include=ids` or `include=alert_texts`
     */
    alert_ids?: Array<string>;
    /**
     * The colour of the line, else of its mode, as six hexadecimal digits without `#` (as in GTFS). Only with `include=colors`
     */
    color?: string;
    /**
     * The text colour for `color`: black or white. Only with `include=colors`
     */
    text_color?: string;
    /**
     * `live` if `occupancy` is reported for this vehicle, `usual` if it is what the timetable expects on this weekday; null if it is unknown. Only with `include=occupancy`
     */
    occupancy_source?: 'live' | 'usual' | null;
    /**
     * Whether the vehicle is wheelchair accessible; null if unknown. Only with `include=access`
     */
    vehicle_accessible?: boolean | null;
    /**
     * Whether at least one bicycle may be taken on board, by the timetable; null if unknown. Only with `include=access`
     */
    bikes_allowed?: boolean | null;
    /**
     * Whether the stop is wheelchair accessible; null if unknown. Only with `include=access`
     */
    stop_accessible?: boolean | null;
    /**
     * The headsign under which the vehicle goes on with its riders on board; null if it does not, or still shows the same place. Only with `include=through`
     */
    through_to?: string | null;
    /**
     * Planned arrival at the end of the leg, UTC
     */
    arrives_at: string;
    /**
     * Estimate, UTC; null without live data
     */
    arrives_at_realtime: string | null;
};

/**
 * A change between two rides, and how safe it is.
 */
export type ChangeRating = {
    /**
     * Index in `legs` of the ride before the change
     */
    leg: number;
    /**
     * Index in `legs` of the ride after the change
     */
    next_leg: number;
    /**
     * The stop where the first ride ends
     */
    stop_id: string;
    /**
     * Name of that stop
     */
    name: string;
    /**
     * By best-known times, after the walk: `on_time` with at least five minutes to spare, `tight` with at least two, else `at_risk`
     */
    rating: 'on_time' | 'tight' | 'at_risk';
    /**
     * Whole minutes to spare; negative if the change is missed
     */
    spare_minutes: number;
    /**
     * Time to spare in seconds
     */
    spare_seconds: number;
};

/**
 * The current status of a journey.
 */
export type JourneyNow = {
    /**
     * As requested
     */
    journey_id: string;
    /**
     * Timestamp (UTC) of the oldest live data in this response
     */
    retrieved_at: string;
    /**
     * Status of the worst change; `cancelled` if a ride does not run, `ended` after the arrival
     */
    status: 'possible' | 'at_risk' | 'missed' | 'cancelled' | 'ended';
    journey: FollowedJourney;
    /**
     * The changes between rides, in order
     */
    changes: Array<Change>;
    /**
     * If a change is missed or a ride cancelled: journeys that continue from there, each with its `journey_id`. Empty if none is found; null while the journey can be made
     */
    next_journeys: Array<Journey> | null;
};

/**
 * The journey with its current times. `path` of legs is empty.
 */
export type FollowedJourney = {
    /**
     * Planned start, UTC
     */
    departs_at: string;
    /**
     * Planned end, UTC
     */
    arrives_at: string;
    /**
     * Estimate, UTC; null without live data
     */
    departs_at_realtime: string | null;
    /**
     * Estimate, UTC; null without live data
     */
    arrives_at_realtime: string | null;
    /**
     * Whole minutes by the best-known times
     */
    duration_minutes: number;
    /**
     * Number of changes between rides
     */
    changes: number;
    /**
     * Whether any leg is tracked
     */
    is_live: boolean;
    /**
     * In order; each begins where the one before ended
     */
    legs: Array<FollowedLeg>;
    /**
     * Stops where the journey boards or alights and a lift is out of service; null if no alerts are known. Only with `wheelchair=true`
     */
    lifts_out?: Array<{
        /**
         * Stop or platform ID
         */
        stop_id: string;
        /**
         * Stop name
         */
        name: string;
        /**
         * The alert in `/v1/alerts`
         */
        alert_id: string;
    }> | null;
    /**
     * Whether the service is cancelled; only with `cancelled=include`
     */
    cancelled?: boolean;
};

/**
 * One ride or walk of a followed journey.
 */
export type FollowedLeg = {
    mode: LegMode;
    /**
     * Short route name; null on a walk
     */
    route: string | null;
    /**
     * Full line name; null on a walk
     */
    line_name: string | null;
    /**
     * Headsign; null on a walk
     */
    direction: string | null;
    origin: LegOrigin;
    destination: LegDestination;
    /**
     * Whole minutes by the best-known times
     */
    duration_minutes: number;
    /**
     * Length of a walk in metres, at least the straight-line distance; null on a ride, and if unknown
     */
    distance_metres: number | null;
    /**
     * Number of stops between the ends, without stations that a train passes; 0 on a walk
     */
    stops: number;
    /**
     * Whether the vehicle is tracked; false on a walk
     */
    is_live: boolean;
    /**
     * `[lat, lng]` pairs, ready for a map polyline; empty with `path=polyline` and `path=none`
     */
    path: Array<[
        number,
        number
    ]>;
    /**
     * Disruption notices and hints for the ride (gates that close early, carriages to board, bookings required, no fixed times) as plain text; empty if there are none
     */
    alerts: Array<string>;
    /**
     * Whether the service is cancelled; only with `cancelled=include`
     */
    cancelled?: boolean;
    /**
     * ID for `/v1/lines/{line_id}`; null on a walk and if the line is not in the timetable. Only with `include=ids`
     */
    line_id?: string | null;
    /**
     * The ID of the run, the same on boards and in journeys; null if unknown. Stable within a service day; another day may reuse it. Only with `include=ids`
     */
    trip_id?: string | null;
    /**
     * ID for `/v1/runs/{run_id}`; valid today only, null if unknown. Only with `include=ids`
     */
    run_id?: string | null;
    /**
     * IDs of the alerts; the same text has the same ID in every response. Only with `include=ids` or `include=alert_texts`
     */
    alert_ids?: Array<string>;
    /**
     * The colour of the line, else of its mode, as six hexadecimal digits without `#` (as in GTFS). Only with `include=colors`; null on a walk
     */
    color?: string | null;
    /**
     * The text colour for `color`: black or white. Only with `include=colors`; null on a walk
     */
    text_color?: string | null;
    /**
     * Whether the ride must be booked and its times are indicative. Only with `include=ids`
     */
    on_demand?: boolean;
    /**
     * Predicted occupancy of each carriage when the train leaves this stop, front carriage first; null if unknown. Only with `include=carriages`
     */
    carriages?: Array<Carriage> | null;
    /**
     * Stops of the vehicle in order, including both ends, without stations that it passes; empty on a walk, null if unknown. Only with `include=calls`
     */
    calls?: Array<Call> | null;
    usual?: Usual;
    /**
     * The next two departures that do the same leg, by best-known times, live like those of `/v1/departures`. They leave no earlier than the ride and within a day of it, match the filters of the request, and miss no change of the journey. Empty on a walk and if there are none; null if the timetable lacks a stop of the ride. Only with `include=alternatives`
     */
    alternatives?: Array<Alternative> | null;
    /**
     * Whether the run is still in the timetable or the feeds. If false, its times are the planned ones. True on a walk
     */
    found: boolean;
    /**
     * How full the vehicle is at the start of the ride; null if unknown
     */
    occupancy: Occupancy | null;
};

/**
 * A change between two rides, and whether it will be made.
 */
export type Change = {
    /**
     * Index in `legs` of the ride before the change
     */
    leg: number;
    /**
     * Index in `legs` of the ride after the change
     */
    next_leg: number;
    /**
     * The stop where the first ride ends
     */
    stop_id: string;
    /**
     * Name of that stop
     */
    name: string;
    /**
     * By best-known times, after the walk: `on_time` with at least five minutes to spare, `tight` with at least two, else `at_risk`
     */
    rating: 'on_time' | 'tight' | 'at_risk';
    /**
     * Whole minutes to spare; negative if the change is missed
     */
    spare_minutes: number;
    /**
     * Time to spare in seconds
     */
    spare_seconds: number;
    /**
     * By best-known times, including the walk. A change to or from a cancelled ride is `missed`; `at_risk` with less than two minutes to spare
     */
    status: 'possible' | 'at_risk' | 'missed';
};

/**
 * What can be reached from a place.
 */
export type Reachable = {
    origin: StopReference;
    /**
     * Start of the search, UTC
     */
    departs_at: string;
    /**
     * Timestamp (UTC) of the oldest live data used
     */
    retrieved_at: string;
    /**
     * The earliest arrival first, without the origin; not with `format=geojson`
     */
    stops?: Array<ReachedStop>;
    /**
     * Only with `format=geojson`
     */
    type?: 'FeatureCollection';
    /**
     * The area; only with `format=geojson`
     */
    features?: Array<ReachedArea>;
    /**
     * Number of stops within reach. If it exceeds `limit`, not all are listed
     */
    total: number;
};

/**
 * A stop within reach.
 */
export type ReachedStop = {
    /**
     * The station, or the stop if it is in none
     */
    stop_id: string;
    /**
     * Stop name
     */
    name: string;
    /**
     * Latitude in degrees, EPSG:4326
     */
    lat: number;
    /**
     * Longitude in degrees, EPSG:4326
     */
    lng: number;
    /**
     * Earliest arrival by the best-known times, UTC
     */
    arrives_at: string;
    /**
     * Whole minutes from `departs_at` to `arrives_at`
     */
    duration_minutes: number;
    /**
     * Number of changes between rides
     */
    changes: number;
    /**
     * The last ride to the stop; null if it is reached on foot
     */
    last_ride: {
        mode: Mode;
        /**
         * Short route name
         */
        route: string;
        /**
         * Headsign; null if unknown
         */
        direction: string | null;
        /**
         * When the ride begins, best-known, UTC
         */
        departs_at: string;
        /**
         * When the ride ends, best-known, UTC; a walk to the stop may follow
         */
        arrives_at: string;
        /**
         * Whether the vehicle is tracked
         */
        is_live: boolean;
    } | null;
};

/**
 * The area within reach as GeoJSON.
 */
export type ReachedArea = {
    /**
     * As GeoJSON has it
     */
    type: 'Feature';
    /**
     * The area that can be reached, including walks from each stop in the time left there
     */
    geometry: {
        /**
         * As GeoJSON has it
         */
        type: 'MultiPolygon';
        /**
         * Polygons, each with its outer ring and its holes, as longitude and latitude in degrees
         */
        coordinates: Array<Array<Array<[
            number,
            number
        ]>>>;
    };
    /**
     * The properties of the area
     */
    properties: {
        /**
         * The minutes requested
         */
        minutes: number;
    };
};

/**
 * Travel times from one place to several stops.
 */
export type TravelTimes = {
    origin: StopReference;
    /**
     * Timestamp (UTC) of the oldest live data used
     */
    retrieved_at: string;
    /**
     * In the order of `to`
     */
    destinations: Array<TravelTime>;
};

/**
 * The travel time to one destination.
 */
export type TravelTime = {
    /**
     * As requested
     */
    stop_id: string;
    /**
     * Stop name
     */
    name: string;
    /**
     * The journey that arrives first; null if there is none within a day
     */
    best: {
        /**
         * Latest start for this arrival, best-known, UTC
         */
        departs_at: string;
        /**
         * Earliest arrival, best-known, UTC
         */
        arrives_at: string;
        /**
         * Whole minutes from start to arrival
         */
        duration_minutes: number;
        /**
         * Number of changes between rides
         */
        changes: number;
        /**
         * Whether any ride is tracked
         */
        is_live: boolean;
    } | null;
};

/**
 * Disruption notices in force.
 */
export type Alerts = {
    /**
     * When Transport for NSW sent this list
     */
    retrieved_at: string;
    /**
     * Sorted by severity, most severe first, then latest first
     */
    alerts: Array<Alert>;
    /**
     * Number of alerts that match the filters. If it exceeds `limit`, not all are listed
     */
    total: number;
};

/**
 * A disruption notice and what it affects.
 */
export type Alert = {
    /**
     * Alert ID; the same as in `alert_ids` of boards and journeys
     */
    id: string;
    /**
     * The subject: single runs, lines, stops, lifts and escalators (`facility`), or anything else (`general`)
     */
    kind: 'run' | 'line' | 'stop' | 'facility' | 'general';
    /**
     * Category, as set by Transport for NSW; null if unknown
     */
    category: 'trackwork' | 'service_change' | 'lifts_escalators' | null;
    /**
     * Cause in the terms of Transport for NSW, such as `lift_failure` or `roadworks`; null if unknown
     */
    cause: string | null;
    /**
     * Severity, as set by Transport for NSW
     */
    severity: 'very_high' | 'high' | 'normal' | 'low' | 'very_low';
    /**
     * Heading, often a list of lines; null if there is none
     */
    title: string | null;
    /**
     * Text, the same as in `alerts` of boards and journeys
     */
    text: string;
    /**
     * Page with more information; null if there is none
     */
    url: string | null;
    /**
     * Periods in which the alert is in force; empty if unknown
     */
    periods: Array<{
        /**
         * Start of the period; null if open
         */
        starts_at: string | null;
        /**
         * End of the period; null if unknown
         */
        ends_at: string | null;
    }>;
    /**
     * The stops that the alert names
     */
    stops: Array<{
        /**
         * Stop ID
         */
        stop_id: string;
        /**
         * Stop name; null if unknown
         */
        name: string | null;
    }>;
    /**
     * The routes that the alert names
     */
    routes: Array<{
        /**
         * Short route name
         */
        route: string;
        mode: Mode;
    }>;
    /**
     * The runs that the alert names and that have not ended
     */
    runs: Array<{
        /**
         * Run ID, as in `trip_id` of boards and journeys with `include=ids`
         */
        trip_id: string;
        /**
         * Short route name; null if unknown
         */
        route: string | null;
        /**
         * Planned start of the run; null if unknown
         */
        starts_at: string | null;
    }>;
    /**
     * When Transport for NSW last changed it; null if unknown
     */
    updated_at: string | null;
};

/**
 * A vehicle on its way from its first stop to its last.
 */
export type Run = {
    /**
     * As requested
     */
    run_id: string;
    /**
     * Run ID, as in `trip_id` of boards and journeys
     */
    trip_id: string;
    /**
     * Short route name
     */
    route: string;
    mode: Mode;
    /**
     * ID for `/v1/lines/{line_id}`; null if the line is not in the timetable
     */
    line_id: string | null;
    /**
     * Headsign
     */
    destination: string;
    /**
     * The headsign under which the vehicle goes on with its riders on board; null if it does not, or still shows the same place
     */
    through_to: string | null;
    /**
     * Timestamp (UTC) of the oldest live data in this response
     */
    retrieved_at: string;
    /**
     * Whether the vehicle is tracked
     */
    is_live: boolean;
    /**
     * Whether the run is cancelled
     */
    cancelled: boolean;
    /**
     * Wheelchair access of the departure that `run_id` identifies
     */
    wheelchair_accessible: boolean;
    /**
     * Whether the vehicle is wheelchair accessible; null if unknown. Only with `include=access`
     */
    vehicle_accessible?: boolean | null;
    /**
     * Whether at least one bicycle may be taken on board, by the timetable; null if unknown. Only with `include=access`
     */
    bikes_allowed?: boolean | null;
    /**
     * Disruption notices of that departure, and a hint if it has no fixed times, as plain text
     */
    alerts: Array<string>;
    /**
     * Where the vehicle is, by the best-known times of its calls; `unknown` if these are not listed
     */
    status: 'not_started' | 'at_stop' | 'between_stops' | 'ended' | 'cancelled' | 'unknown';
    /**
     * The same as text; null unless the vehicle is on its way
     */
    position: string | null;
    /**
     * The stop where the vehicle is or that it last left; null before the first known one
     */
    last_stop_id: string | null;
    /**
     * The next stop; null after the last one
     */
    next_stop_id: string | null;
    /**
     * Stops of the run in order, from its first stop if known. Skipped stops are `cancelled`. Null if unknown
     */
    calls: Array<Call> | null;
    /**
     * ID for `/v1/runs/{run_id}` of the run that the vehicle continues as; null if none is known
     */
    next_run_id: string | null;
};

/**
 * Vehicles in an area.
 */
export type Vehicles = {
    /**
     * Timestamp (UTC) of the oldest feed used
     */
    retrieved_at: string;
    /**
     * The vehicles; not with `format=geojson`
     */
    vehicles?: Array<Vehicle>;
    /**
     * Only with `format=geojson`
     */
    type?: 'FeatureCollection';
    /**
     * The vehicles; only with `format=geojson`
     */
    features?: Array<VehicleFeature>;
    /**
     * Number of vehicles in the area. If it exceeds `limit`, not all are listed
     */
    total: number;
};

/**
 * A vehicle and its last reported position.
 */
export type Vehicle = {
    /**
     * Vehicle ID; stays the same during a run
     */
    vehicle_id: string;
    /**
     * Latitude in degrees, EPSG:4326
     */
    lat: number;
    /**
     * Longitude in degrees, EPSG:4326
     */
    lng: number;
    /**
     * Heading in degrees clockwise from north; null if unknown, as for all trains
     */
    bearing: number | null;
    /**
     * When the vehicle reported this position, UTC
     */
    reported_at: string;
    mode: Mode;
    /**
     * Short route name; null if unknown
     */
    route: string | null;
    /**
     * ID for `/v1/lines/{line_id}`; null if the line is not in the timetable
     */
    line_id: string | null;
    /**
     * Headsign; null if unknown
     */
    destination: string | null;
    /**
     * Run ID, as in `trip_id` of boards and journeys with `include=ids`
     */
    trip_id: string;
    /**
     * ID for `/v1/runs/{run_id}`; null if no departure of the run is known
     */
    run_id: string | null;
    /**
     * The next stop; null if unknown
     */
    next_call: {
        /**
         * The platform, stand or wharf
         */
        stop_id: string;
        /**
         * Stop name, as in the calls of runs; null if unknown
         */
        name: string | null;
        /**
         * Expected arrival, UTC; null if unknown
         */
        arrives_at_realtime: string | null;
    } | null;
    /**
     * How full the vehicle is; null if unknown
     */
    occupancy: Occupancy | null;
    /**
     * The carriages of a train, from the front; null if unknown
     */
    carriages: Array<Carriage> | null;
    /**
     * Whether the vehicle is wheelchair accessible; null if unknown
     */
    wheelchair_accessible: boolean | null;
};

/**
 * A vehicle as GeoJSON.
 */
export type VehicleFeature = {
    /**
     * As GeoJSON has it
     */
    type: 'Feature';
    /**
     * The vehicle
     */
    id: string;
    /**
     * The position of the vehicle
     */
    geometry: {
        /**
         * As GeoJSON has it
         */
        type: 'Point';
        /**
         * Longitude and latitude in degrees
         */
        coordinates: [
            number,
            number
        ];
    };
    /**
     * The other fields of the vehicle
     */
    properties: {
        /**
         * Vehicle ID; stays the same during a run
         */
        vehicle_id: string;
        /**
         * Heading in degrees clockwise from north; null if unknown, as for all trains
         */
        bearing: number | null;
        /**
         * When the vehicle reported this position, UTC
         */
        reported_at: string;
        mode: Mode;
        /**
         * Short route name; null if unknown
         */
        route: string | null;
        /**
         * ID for `/v1/lines/{line_id}`; null if the line is not in the timetable
         */
        line_id: string | null;
        /**
         * Headsign; null if unknown
         */
        destination: string | null;
        /**
         * Run ID, as in `trip_id` of boards and journeys with `include=ids`
         */
        trip_id: string;
        /**
         * ID for `/v1/runs/{run_id}`; null if no departure of the run is known
         */
        run_id: string | null;
        /**
         * The next stop; null if unknown
         */
        next_call: {
            /**
             * The platform, stand or wharf
             */
            stop_id: string;
            /**
             * Stop name, as in the calls of runs; null if unknown
             */
            name: string | null;
            /**
             * Expected arrival, UTC; null if unknown
             */
            arrives_at_realtime: string | null;
        } | null;
        /**
         * How full the vehicle is; null if unknown
         */
        occupancy: Occupancy | null;
        /**
         * The carriages of a train, from the front; null if unknown
         */
        carriages: Array<Carriage> | null;
        /**
         * Whether the vehicle is wheelchair accessible; null if unknown
         */
        wheelchair_accessible: boolean | null;
    };
};

/**
 * Car parks at stops.
 */
export type CarParks = {
    /**
     * The car parks; not with `format=geojson`
     */
    carparks?: Array<CarPark>;
    /**
     * Only with `format=geojson`
     */
    type?: 'FeatureCollection';
    /**
     * The car parks whose position is known; only with `format=geojson`
     */
    features?: Array<CarParkFeature>;
};

/**
 * A car park as GeoJSON.
 */
export type CarParkFeature = {
    /**
     * As GeoJSON has it
     */
    type: 'Feature';
    /**
     * ID of the car park
     */
    id: string;
    /**
     * The position of the car park
     */
    geometry: {
        /**
         * As GeoJSON has it
         */
        type: 'Point';
        /**
         * Longitude and latitude in degrees
         */
        coordinates: [
            number,
            number
        ];
    };
    /**
     * The other fields of the car park
     */
    properties: {
        /**
         * ID of the car park
         */
        carpark_id: string;
        /**
         * Name of the car park
         */
        name: string;
        /**
         * Suburb or locality; empty if unknown
         */
        suburb: string;
        /**
         * Street of the entrance; empty if unknown
         */
        address: string;
        /**
         * The stop that it belongs to; null if unknown
         */
        stop_id: string | null;
        /**
         * Name of that stop; null if unknown
         */
        stop_name: string | null;
        /**
         * Number of spaces; null if unknown
         */
        capacity: number | null;
        /**
         * Free spaces, from 0 to `capacity`; null without a reading of the last 15 minutes
         */
        spaces_free: number | null;
        /**
         * The last half hour: `steady` if less than 2 % of the spaces changed. Null without a reading of half an hour ago
         */
        trend: 'filling' | 'emptying' | 'steady' | null;
        /**
         * Number of free spaces now, less that of half an hour ago; null if `trend` is
         */
        spaces_change: number | null;
        /**
         * When the car park last reported, however long ago, UTC; null if unknown
         */
        reported_at: string | null;
    };
};

/**
 * A short-lived token to use instead of a key.
 */
export type Token = {
    /**
     * Use it instead of your key: as a Bearer token, or on streams as `access_token` in the query.
     */
    token: string;
    /**
     * UTC, ISO 8601.
     */
    expires_at: string;
};

/**
 * What the token allows.
 */
export type TokenRequest = {
    /**
     * How long the token is valid.
     */
    minutes?: number;
    /**
     * Paths of the allowed operations, including their streams. Default: all.
     */
    operations?: Array<'/v1/departures' | '/v1/arrivals' | '/v1/boards' | '/v1/nearby' | '/v1/stops/search' | '/v1/places/search' | '/v1/stops' | '/v1/stops/{stop_id}' | '/v1/lines' | '/v1/lines/status' | '/v1/lines/{line_id}' | '/v1/lines/{line_id}/timetable' | '/v1/lines/{line_id}/punctuality' | '/v1/trips' | '/v1/trips/{journey_id}' | '/v1/reachable' | '/v1/travel-times' | '/v1/alerts' | '/v1/alerts/{alert_id}' | '/v1/runs/{run_id}' | '/v1/vehicles' | '/v1/carparks' | '/v1/carparks/{carpark_id}'>;
    /**
     * Limits the token to these stops; requests without a stop are refused. Default: no limit.
     */
    stops?: Array<string>;
    /**
     * How many requests the token allows; a stream counts as one a minute. Default: no limit of its own.
     */
    requests?: number;
    /**
     * How many streams may be open at once per instance.
     */
    streams?: number;
};

export type GetDeparturesData = {
    body?: never;
    path?: never;
    query: {
        /**
         * Stop ID, from `/v1/stops/search` or `/v1/nearby`.
         */
        stop: string;
        /**
         * Maximum number of departures, applied after the filters. Values above 50 count as 50.
         */
        limit?: number;
        /**
         * `all`, or some of `train`, `metro`, `lightrail`, `bus`, `coach`, `ferry`, `schoolbus` separated by commas.
         */
        modes?: Array<'all' | 'train' | 'metro' | 'lightrail' | 'bus' | 'coach' | 'ferry' | 'schoolbus'>;
        /**
         * Only these routes: up to 50 short names or line IDs (`T4` or `train_T4`) separated by commas. Only the next 120 vehicles of the selected modes are searched.
         */
        routes?: Array<string>;
        /**
         * Minutes you need to get to the stop. Departures that leave sooner, by the best-known time, are left out. Counts from now, or from `date` and `time`.
         */
        lead?: number;
        /**
         * Maximum number of departures for each route and headsign, applied after the other filters. The search reaches as far ahead as with `routes`. Values above 50 count as 50.
         */
        per_route?: number;
        /**
         * Only departures that stop there later. Each has `arrives_at` and `arrives_at_realtime`. A station includes its platforms. The search reaches as far ahead as with `routes`.
         */
        to?: string;
        /**
         * Date `YYYYMMDD` or `YYYY-MM-DD`, Sydney local time, yesterday or later. Default: today.
         */
        date?: string;
        /**
         * Time of day `HHmm` or `HH:mm`, 24-hour clock, Sydney local time. Or date and time as ISO 8601, such as `2026-11-23T08:00+11:00` or `2026-11-22T21:00Z`; without an offset it is Sydney local time. Default: now.
         */
        time?: string;
        /**
         * `include` also lists cancelled services and adds `cancelled` to every record. They keep their place and count towards `limit`, not towards `per_route`.
         */
        cancelled?: 'exclude' | 'include';
        /**
         * `ids` adds `line_id`, `trip_id`, `run_id` and `alert_ids` to each departure. `colors` adds `color` and `text_color`, the colours of each line. `alert_texts` adds `alert_texts`, with each alert text once; records refer to it by `alert_ids`, and their `alerts` are empty. `access` adds `vehicle_accessible` and `stop_accessible`, from which `wheelchair_accessible` is derived, and `bikes_allowed`. `delay` adds `delay_seconds` wherever there is a live time: how much later than planned that is, negative if it is earlier. `calls` adds `calls` to each departure: its stops from here to the end of the run. `carriages` adds `carriages`, the predicted occupancy of each train carriage on leaving the stop, if the feeds report it. `occupancy` adds `occupancy_source`, and the usual occupancy of this weekday where none is reported for the vehicle. Trains only. `through` adds `through_to`, where the vehicle goes on to with its riders on board, if that is another place than its headsign names. `usual` adds `usual`: how late this departure usually is, the share on time and cancelled, and how many runs that is based on.
         */
        include?: Array<'ids' | 'colors' | 'alert_texts' | 'access' | 'delay' | 'calls' | 'carriages' | 'occupancy' | 'through' | 'usual'>;
        /**
         * Pagination cursor from the `Link` header (`rel="next"` or `rel="prev"`). Valid only with the same operation and parameters.
         */
        cursor?: string;
    };
    url: '/v1/departures';
};

export type GetDeparturesResponses = {
    /**
     * Departures of a stop
     */
    200: Departures;
};

export type GetDeparturesResponse = GetDeparturesResponses[keyof GetDeparturesResponses];

export type GetArrivalsData = {
    body?: never;
    path?: never;
    query: {
        /**
         * Stop ID, from `/v1/stops/search` or `/v1/nearby`.
         */
        stop: string;
        /**
         * Maximum number of arrivals, applied after the filters. Values above 50 count as 50.
         */
        limit?: number;
        /**
         * `all`, or some of `train`, `metro`, `lightrail`, `bus`, `coach`, `ferry`, `schoolbus` separated by commas.
         */
        modes?: Array<'all' | 'train' | 'metro' | 'lightrail' | 'bus' | 'coach' | 'ferry' | 'schoolbus'>;
        /**
         * Only these routes: up to 50 short names or line IDs (`T4` or `train_T4`) separated by commas. Only the next 120 vehicles of the selected modes are searched.
         */
        routes?: Array<string>;
        /**
         * Date `YYYYMMDD` or `YYYY-MM-DD`, Sydney local time, yesterday or later. Default: today.
         */
        date?: string;
        /**
         * Time of day `HHmm` or `HH:mm`, 24-hour clock, Sydney local time. Or date and time as ISO 8601, such as `2026-11-23T08:00+11:00` or `2026-11-22T21:00Z`; without an offset it is Sydney local time. Default: now.
         */
        time?: string;
        /**
         * `include` also lists cancelled services and adds `cancelled` to every record. They keep their place and count towards `limit`, not towards `per_route`.
         */
        cancelled?: 'exclude' | 'include';
        /**
         * `ids` adds `line_id`, `trip_id` and `alert_ids` to each arrival. `colors` adds `color` and `text_color`, the colours of each line. `alert_texts` adds `alert_texts`, with each alert text once; records refer to it by `alert_ids`, and their `alerts` are empty. `access` adds `vehicle_accessible` and `stop_accessible`, from which `wheelchair_accessible` is derived, and `bikes_allowed`. `delay` adds `delay_seconds` wherever there is a live time: how much later than planned that is, negative if it is earlier.
         */
        include?: Array<'ids' | 'colors' | 'alert_texts' | 'access' | 'delay'>;
        /**
         * Pagination cursor from the `Link` header (`rel="next"` or `rel="prev"`). Valid only with the same operation and parameters.
         */
        cursor?: string;
    };
    url: '/v1/arrivals';
};

export type GetArrivalsResponses = {
    /**
     * Arrivals at a stop
     */
    200: Arrivals;
};

export type GetArrivalsResponse = GetArrivalsResponses[keyof GetArrivalsResponses];

export type GetBoardsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Up to 20 stop IDs separated by commas. A repeated stop is returned and charged once. A stop can have its own `lead`: `200070@7,200020@3`.
         */
        stops?: Array<string>;
        /**
         * A position as `lat,lng`, instead of `stops`: the departures of the nearest stops of `modes`, nearest stop first.
         */
        near?: string;
        /**
         * Radius in metres around `near`. Default: as in `/v1/nearby`. Values above 2000 count as 2000.
         */
        radius?: number;
        /**
         * Maximum number of stops around `near`. Default 5. Values above 10 count as 10.
         */
        max_stops?: number;
        /**
         * Maximum number of departures, applied after the filters. Values above 50 count as 50.
         */
        limit?: number;
        /**
         * `all`, or some of `train`, `metro`, `lightrail`, `bus`, `coach`, `ferry`, `schoolbus` separated by commas.
         */
        modes?: Array<'all' | 'train' | 'metro' | 'lightrail' | 'bus' | 'coach' | 'ferry' | 'schoolbus'>;
        /**
         * Only these routes: up to 50 short names or line IDs (`T4` or `train_T4`) separated by commas. Only the next 120 vehicles of the selected modes are searched.
         */
        routes?: Array<string>;
        /**
         * Minutes you need to get to the stop. Departures that leave sooner, by the best-known time, are left out. Counts from now, or from `date` and `time`.
         */
        lead?: number;
        /**
         * Maximum number of departures for each route and headsign, applied after the other filters. The search reaches as far ahead as with `routes`. Values above 50 count as 50.
         */
        per_route?: number;
        /**
         * Only departures that stop there later. Each has `arrives_at` and `arrives_at_realtime`. A station includes its platforms. The search reaches as far ahead as with `routes`.
         */
        to?: string;
        /**
         * Date `YYYYMMDD` or `YYYY-MM-DD`, Sydney local time, yesterday or later. Default: today.
         */
        date?: string;
        /**
         * Time of day `HHmm` or `HH:mm`, 24-hour clock, Sydney local time. Or date and time as ISO 8601, such as `2026-11-23T08:00+11:00` or `2026-11-22T21:00Z`; without an offset it is Sydney local time. Default: now.
         */
        time?: string;
        /**
         * `include` also lists cancelled services and adds `cancelled` to every record. They keep their place and count towards `limit`, not towards `per_route`.
         */
        cancelled?: 'exclude' | 'include';
        /**
         * `ids` adds `line_id`, `trip_id`, `run_id` and `alert_ids` to each departure. `colors` adds `color` and `text_color`, the colours of each line. `alert_texts` adds `alert_texts`, with each alert text once; records refer to it by `alert_ids`, and their `alerts` are empty. `access` adds `vehicle_accessible` and `stop_accessible`, from which `wheelchair_accessible` is derived, and `bikes_allowed`. `delay` adds `delay_seconds` wherever there is a live time: how much later than planned that is, negative if it is earlier. `calls` adds `calls` to each departure: its stops from here to the end of the run. `carriages` adds `carriages`, the predicted occupancy of each train carriage on leaving the stop, if the feeds report it. `occupancy` adds `occupancy_source`, and the usual occupancy of this weekday where none is reported for the vehicle. Trains only. `through` adds `through_to`, where the vehicle goes on to with its riders on board, if that is another place than its headsign names. `usual` adds `usual`: how late this departure usually is, the share on time and cancelled, and how many runs that is based on.
         */
        include?: Array<'ids' | 'colors' | 'alert_texts' | 'access' | 'delay' | 'calls' | 'carriages' | 'occupancy' | 'through' | 'usual'>;
    };
    url: '/v1/boards';
};

export type GetBoardsResponses = {
    /**
     * Departures of several stops, or around a position
     */
    200: Boards;
};

export type GetBoardsResponse = GetBoardsResponses[keyof GetBoardsResponses];

export type GetNearbyStopsData = {
    body?: never;
    path?: never;
    query: {
        /**
         * Latitude, EPSG:4326.
         */
        lat: number;
        /**
         * Longitude, EPSG:4326.
         */
        lng: number;
        /**
         * Radius in metres. Values above 2000 count as 2000.
         */
        radius?: number;
        /**
         * Maximum number of stops, nearest first. Values above 50 count as 50.
         */
        limit?: number;
        /**
         * `all`, or some of `train`, `metro`, `lightrail`, `bus`, `coach`, `ferry`, `schoolbus` separated by commas.
         */
        modes?: Array<'all' | 'train' | 'metro' | 'lightrail' | 'bus' | 'coach' | 'ferry' | 'schoolbus'>;
        /**
         * `ids` adds `children` to each stop. `carparks` adds `carparks`, the car parks of each stop with their free spaces.
         */
        include?: Array<'ids' | 'carparks'>;
    };
    url: '/v1/nearby';
};

export type GetNearbyStopsResponses = {
    /**
     * Stops near a place
     */
    200: NearbyStops;
};

export type GetNearbyStopsResponse = GetNearbyStopsResponses[keyof GetNearbyStopsResponses];

export type SearchStopsData = {
    body?: never;
    path?: never;
    query: {
        /**
         * A part of a stop name, up to 100 characters.
         */
        q: string;
        /**
         * Maximum number of stops, best match first. Values above 50 count as 50.
         */
        limit?: number;
        /**
         * A position as `lat,lng`. Among good matches, nearer ones come first.
         */
        near?: string;
    };
    url: '/v1/stops/search';
};

export type SearchStopsResponses = {
    /**
     * Search stops by name
     */
    200: SearchResults;
};

export type SearchStopsResponse = SearchStopsResponses[keyof SearchStopsResponses];

export type SearchPlacesData = {
    body?: never;
    path?: never;
    query: {
        /**
         * A part of a name, or an address, up to 100 characters.
         */
        q: string;
        /**
         * Maximum number of places, best match first. Values above 50 count as 50.
         */
        limit?: number;
        /**
         * A position as `lat,lng`. Among good matches, nearer ones come first.
         */
        near?: string;
    };
    url: '/v1/places/search';
};

export type SearchPlacesResponses = {
    /**
     * Search places by name
     */
    200: Places;
};

export type SearchPlacesResponse = SearchPlacesResponses[keyof SearchPlacesResponses];

export type ListStopsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The map area as `south,west,north,east`, at most 0.25 degrees each way. Give `bbox` or `near`; with both, only stops within both are listed.
         */
        bbox?: string;
        /**
         * A position as `lat,lng`. Lists the stops within `radius`, nearest first.
         */
        near?: string;
        /**
         * Radius in metres around `near`. Default: half a kilometre. Values above 5000 count as 5000.
         */
        radius?: number;
        /**
         * `all`, or some of `train`, `metro`, `lightrail`, `bus`, `coach`, `ferry`, `schoolbus` separated by commas.
         */
        modes?: Array<'all' | 'train' | 'metro' | 'lightrail' | 'bus' | 'coach' | 'ferry' | 'schoolbus'>;
        /**
         * Maximum number of stops. Values above 1000 count as 1000.
         */
        limit?: number;
        /**
         * `geojson` is a FeatureCollection of RFC 7946, in which longitude comes first.
         */
        format?: 'json' | 'geojson';
    };
    url: '/v1/stops';
};

export type ListStopsResponses = {
    /**
     * Stops in an area
     */
    200: StopList;
};

export type ListStopsResponse = ListStopsResponses[keyof ListStopsResponses];

export type GetStopData = {
    body?: never;
    path: {
        /**
         * ID of the stop or platform.
         */
        stop_id: string;
    };
    query?: {
        /**
         * `carparks` adds `carparks`, the car parks of each stop with their free spaces.
         */
        include?: Array<'carparks'>;
    };
    url: '/v1/stops/{stop_id}';
};

export type GetStopResponses = {
    /**
     * A stop
     */
    200: Stop;
};

export type GetStopResponse = GetStopResponses[keyof GetStopResponses];

export type ListLinesData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Short name, or words of the name, operator or mode. Lines with this short name come first, then those whose short name begins with it.
         */
        q?: string;
        /**
         * `all`, or some of `train`, `metro`, `lightrail`, `bus`, `coach`, `ferry`, `schoolbus` separated by commas.
         */
        modes?: Array<'all' | 'train' | 'metro' | 'lightrail' | 'bus' | 'coach' | 'ferry' | 'schoolbus'>;
        /**
         * Only lines that call at this stop, at any time within the timetable.
         */
        stop?: string;
        /**
         * Only lines with a stop in this map area: `south,west,north,east`, at most 0.5 degrees each way.
         */
        bbox?: string;
        /**
         * Maximum number of lines. Values above 1000 count as 1000.
         */
        limit?: number;
    };
    url: '/v1/lines';
};

export type ListLinesResponses = {
    /**
     * Lines
     */
    200: Lines;
};

export type ListLinesResponse = ListLinesResponses[keyof ListLinesResponses];

export type ListLineStatusData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * `all`, or some of `train`, `metro`, `lightrail`, `bus`, `coach`, `ferry`, `schoolbus` separated by commas.
         */
        modes?: Array<'all' | 'train' | 'metro' | 'lightrail' | 'bus' | 'coach' | 'ferry' | 'schoolbus'>;
        /**
         * Only these lines: up to 50 short names or line IDs (`T4` or `train_T4`) separated by commas.
         */
        routes?: Array<string>;
        /**
         * Maximum number of lines. Values above 1000 count as 1000.
         */
        limit?: number;
    };
    url: '/v1/lines/status';
};

export type ListLineStatusResponses = {
    /**
     * Status of lines
     */
    200: LineStatuses;
};

export type ListLineStatusResponse = ListLineStatusResponses[keyof ListLineStatusResponses];

export type GetLineData = {
    body?: never;
    path: {
        /**
         * A `line_id` from /v1/lines.
         */
        line_id: string;
    };
    query?: {
        /**
         * The service day as `YYYYMMDD` or `YYYY-MM-DD`, yesterday or later. Runs after midnight belong to the day before. Default: today in Sydney.
         */
        date?: string;
        /**
         * `geojson` adds the course of each direction as features of a FeatureCollection (RFC 7946), in which longitude comes first.
         */
        format?: 'json' | 'geojson';
    };
    url: '/v1/lines/{line_id}';
};

export type GetLineResponses = {
    /**
     * A line
     */
    200: Line;
};

export type GetLineResponse = GetLineResponses[keyof GetLineResponses];

export type GetLineTimetableData = {
    body?: never;
    path: {
        /**
         * A `line_id` from /v1/lines.
         */
        line_id: string;
    };
    query?: {
        /**
         * The service day as `YYYYMMDD` or `YYYY-MM-DD`, yesterday or later. Runs after midnight belong to the day before. Default: today in Sydney.
         */
        date?: string;
        /**
         * Only the direction with this `direction_id`.
         */
        direction?: '0' | '1';
        /**
         * Only runs that are still under way at this time or start later: `HHmm` (24-hour, Sydney time), or ISO 8601. Default: all.
         */
        time?: string;
        /**
         * Maximum number of runs in each direction. Values above 2000 count as 2000.
         */
        limit?: number;
    };
    url: '/v1/lines/{line_id}/timetable';
};

export type GetLineTimetableResponses = {
    /**
     * Timetable of a line
     */
    200: LineTimetable;
};

export type GetLineTimetableResponse = GetLineTimetableResponses[keyof GetLineTimetableResponses];

export type GetLinePunctualityData = {
    body?: never;
    path: {
        /**
         * A `line_id` from /v1/lines.
         */
        line_id: string;
    };
    query?: {
        /**
         * Only calls at this stop. A station includes its platforms.
         */
        stop?: string;
        /**
         * Only the run planned at `stop` at this time of day, `HHmm` in Sydney; over all days, also where the run has another ID.
         */
        time?: string;
        /**
         * Only calls planned on these days of the week in Sydney.
         */
        weekday?: Array<'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun'>;
        /**
         * Only calls planned in these hours of the day in Sydney, 0 to 23.
         */
        hour?: Array<number>;
        /**
         * How many service days count, today included. Runs after midnight belong to the day before.
         */
        days?: number;
    };
    url: '/v1/lines/{line_id}/punctuality';
};

export type GetLinePunctualityResponses = {
    /**
     * Punctuality of a line
     */
    200: Punctuality;
};

export type GetLinePunctualityResponse = GetLinePunctualityResponses[keyof GetLinePunctualityResponses];

export type PlanTripsData = {
    body?: never;
    path?: never;
    query: {
        /**
         * The origin: a stop ID, the `id` of a place from `/v1/places/search`, or a position as `lat,lng`.
         */
        from: string;
        /**
         * The destination, different from the origin: a stop ID, the `id` of a place from `/v1/places/search`, or a position as `lat,lng`.
         */
        to: string;
        /**
         * Date `YYYYMMDD` or `YYYY-MM-DD`, Sydney local time, yesterday or later. Default: today.
         */
        date?: string;
        /**
         * Time of day `HHmm` or `HH:mm`, 24-hour clock, Sydney local time. Or date and time as ISO 8601, such as `2026-11-23T08:00+11:00` or `2026-11-22T21:00Z`; without an offset it is Sydney local time. Default: now.
         */
        time?: string;
        /**
         * Arrive before the date and time, instead of departing then.
         */
        arrive_by?: boolean;
        /**
         * Maximum number of journeys. Values above 6 count as 6.
         */
        limit?: number;
        /**
         * The geometry of legs: `full` has `[lat, lng]` pairs in `path`; `polyline` has an encoded polyline (precision 5) in `polyline` and leaves `path` empty; `none` leaves `path` empty.
         */
        path?: 'full' | 'polyline' | 'none';
        /**
         * Only journeys that use these modes alone; walks are always allowed. `all`, or some of `train`, `metro`, `lightrail`, `bus`, `coach`, `ferry`, `schoolbus` separated by commas.
         */
        modes?: Array<'all' | 'train' | 'metro' | 'lightrail' | 'bus' | 'coach' | 'ferry' | 'schoolbus'>;
        /**
         * Only journeys that the trip planner considers wheelchair accessible, without those on vehicles known not to be. Adds `lifts_out` to each journey; journeys that need a lift out of service come last.
         */
        wheelchair?: boolean;
        /**
         * Maximum number of changes; 0 means a direct ride or a walk. Planned from the timetable where it has both ends, else a filter of the trip planner's journeys. Values above 9 count as 9.
         */
        max_changes?: number;
        /**
         * `exclude` leaves out rides that must be booked, such as most coaches and country trains of NSW TrainLink. Such rides have a notice in `alerts`, and `needs_booking` with `include=access`.
         */
        booking?: 'include' | 'exclude';
        /**
         * Up to 2 stop IDs on the way, in order, each with the minimum stay in minutes after `@`: `200070@10,200020`. Without a stay you may remain in the vehicle. Only the timetable plans such journeys.
         */
        via?: Array<string>;
        /**
         * Walking speed in metres a second: `slow` 0.8, `normal` 1.2, `fast` 1.6. Walks are 1.3 times as long as the straight line.
         */
        pace?: 'slow' | 'normal' | 'fast';
        /**
         * Maximum length of each walk in metres, as in `distance_metres` of a leg: to the first stop, at each change, from the last stop, and all the way on foot. Without it, walks between two stops are at most half a kilometre, others a kilometre.
         */
        max_walk?: number;
        /**
         * Minimum minutes between two rides, including the walk; 2 in journeys from the timetable. Staying in the vehicle is no change.
         */
        min_change?: number;
        /**
         * `fewer_changes`: one more change must save 20 minutes. `less_walking`: a minute on foot counts as two.
         */
        prefer?: 'fewer_changes' | 'less_walking';
        /**
         * Pagination cursor from the `Link` header (`rel="next"` or `rel="prev"`). Valid only with the same operation and parameters.
         */
        cursor?: string;
        /**
         * `include` also lists cancelled services and adds `cancelled` to every record. Journeys with a cancelled leg come last and do not count towards `limit`; there may be no others.
         */
        cancelled?: 'exclude' | 'include';
        /**
         * `ids` adds `journey_id` to each journey, `line_id`, `trip_id`, `run_id`, `alert_ids` and `on_demand` to each leg, and `parent_stop_id` to its ends. `colors` adds `color` and `text_color`, the colours of each line. `alert_texts` adds `alert_texts`, with each alert text once; records refer to it by `alert_ids`, and their `alerts` are empty. `calls` adds `calls` to each leg: every stop of the vehicle in order, including both ends, with times and platform. Uses live times of the realtime feeds if they are newer. `access` adds `vehicle_accessible`, `bikes_allowed` and `needs_booking` to each leg, and `stop_accessible` to its ends. `carriages` adds `carriages`, the predicted occupancy of each train carriage on leaving the stop, if the feeds report it. `through` adds `through_to`, where the vehicle goes on to with its riders on board, if that is another place than its headsign names. `changes` adds `change_ratings` to each journey: the time to spare at each change, and whether that is `on_time`, `tight` or `at_risk`. `delay` adds `delay_seconds` wherever there is a live time: how much later than planned that is, negative if it is earlier. `occupancy` adds `occupancy_source`, and the usual occupancy of this weekday where none is reported for the vehicle. Trains only. `usual` adds `usual`: how late the ride usually is, the share on time and cancelled, and how many runs that is based on. `alternatives` adds `alternatives` to each ride: the next two departures within a day from the same stop or station to the same stop or station, with which the changes of the journey still work.
         */
        include?: Array<'ids' | 'colors' | 'alert_texts' | 'calls' | 'access' | 'carriages' | 'through' | 'changes' | 'delay' | 'occupancy' | 'usual' | 'alternatives'>;
    };
    url: '/v1/trips';
};

export type PlanTripsResponses = {
    /**
     * Plan journeys between two places
     */
    200: Trips;
};

export type PlanTripsResponse = PlanTripsResponses[keyof PlanTripsResponses];

export type GetJourneyData = {
    body?: never;
    path: {
        /**
         * The `journey_id` from `/v1/trips` with `include=ids`.
         */
        journey_id: string;
    };
    query?: {
        /**
         * `calls` adds `calls` to each leg: every stop of the vehicle in order, including both ends. Skipped stops are `cancelled` if known. `colors` adds `color` and `text_color`, the colours of each line. `carriages` adds `carriages`, the predicted occupancy of each train carriage on leaving the stop, if the feeds report it. `delay` adds `delay_seconds` wherever there is a live time: how much later than planned that is, negative if it is earlier.
         */
        include?: Array<'calls' | 'colors' | 'carriages' | 'delay'>;
    };
    url: '/v1/trips/{journey_id}';
};

export type GetJourneyResponses = {
    /**
     * Follow a journey
     */
    200: JourneyNow;
};

export type GetJourneyResponse = GetJourneyResponses[keyof GetJourneyResponses];

export type ListReachableData = {
    body?: never;
    path?: never;
    query: {
        /**
         * The origin: a stop ID, the `id` of a place from `/v1/places/search`, or a position as `lat,lng`.
         */
        from: string;
        /**
         * Date `YYYYMMDD` or `YYYY-MM-DD`, Sydney local time, yesterday or later. Default: today.
         */
        date?: string;
        /**
         * Time of day `HHmm` or `HH:mm`, 24-hour clock, Sydney local time. Or date and time as ISO 8601, such as `2026-11-23T08:00+11:00` or `2026-11-22T21:00Z`; without an offset it is Sydney local time. Default: now.
         */
        time?: string;
        /**
         * Only rides of these modes; walks are always allowed. `all`, or some of `train`, `metro`, `lightrail`, `bus`, `coach`, `ferry`, `schoolbus` separated by commas.
         */
        modes?: Array<'all' | 'train' | 'metro' | 'lightrail' | 'bus' | 'coach' | 'ferry' | 'schoolbus'>;
        /**
         * Leave out vehicles and stops known not to be wheelchair accessible, and platforms whose lift is out of service.
         */
        wheelchair?: boolean;
        /**
         * Walking speed in metres a second: `slow` 0.8, `normal` 1.2, `fast` 1.6. Walks are 1.3 times as long as the straight line.
         */
        pace?: 'slow' | 'normal' | 'fast';
        /**
         * Maximum length of each walk in metres, as in `distance_metres` of a leg: to the first stop, at each change, from the last stop, and all the way on foot. Without it, walks between two stops are at most half a kilometre, others a kilometre.
         */
        max_walk?: number;
        /**
         * Time from `date` and `time` on, including waiting and walking. Values above 90 count as 90.
         */
        minutes?: number;
        /**
         * Maximum number of stops. Values above 5000 count as 5000. Has no effect with `format=geojson`.
         */
        limit?: number;
        /**
         * `geojson` is the area within reach instead of the stops: a FeatureCollection of RFC 7946, in which longitude comes first.
         */
        format?: 'json' | 'geojson';
    };
    url: '/v1/reachable';
};

export type ListReachableResponses = {
    /**
     * Stops and area within reach
     */
    200: Reachable;
};

export type ListReachableResponse = ListReachableResponses[keyof ListReachableResponses];

export type ListTravelTimesData = {
    body?: never;
    path?: never;
    query: {
        /**
         * The origin: a stop ID, the `id` of a place from `/v1/places/search`, or a position as `lat,lng`.
         */
        from: string;
        /**
         * Date `YYYYMMDD` or `YYYY-MM-DD`, Sydney local time, yesterday or later. Default: today.
         */
        date?: string;
        /**
         * Time of day `HHmm` or `HH:mm`, 24-hour clock, Sydney local time. Or date and time as ISO 8601, such as `2026-11-23T08:00+11:00` or `2026-11-22T21:00Z`; without an offset it is Sydney local time. Default: now.
         */
        time?: string;
        /**
         * Only rides of these modes; walks are always allowed. `all`, or some of `train`, `metro`, `lightrail`, `bus`, `coach`, `ferry`, `schoolbus` separated by commas.
         */
        modes?: Array<'all' | 'train' | 'metro' | 'lightrail' | 'bus' | 'coach' | 'ferry' | 'schoolbus'>;
        /**
         * Leave out vehicles and stops known not to be wheelchair accessible, and platforms whose lift is out of service.
         */
        wheelchair?: boolean;
        /**
         * Walking speed in metres a second: `slow` 0.8, `normal` 1.2, `fast` 1.6. Walks are 1.3 times as long as the straight line.
         */
        pace?: 'slow' | 'normal' | 'fast';
        /**
         * Maximum length of each walk in metres, as in `distance_metres` of a leg: to the first stop, at each change, from the last stop, and all the way on foot. Without it, walks between two stops are at most half a kilometre, others a kilometre.
         */
        max_walk?: number;
        /**
         * The destinations, without the origin: up to 10 stop IDs separated by commas.
         */
        to: Array<string>;
    };
    url: '/v1/travel-times';
};

export type ListTravelTimesResponses = {
    /**
     * Travel times to several stops
     */
    200: TravelTimes;
};

export type ListTravelTimesResponse = ListTravelTimesResponses[keyof ListTravelTimesResponses];

export type ListAlertsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Only alerts that name this stop, its platforms or its station, and alerts that name only lines if one of these lines leaves there.
         */
        stop?: string;
        /**
         * Only alerts that name one of these routes: up to 50 short names or line IDs (`T4` or `train_T4`) separated by commas.
         */
        routes?: Array<string>;
        /**
         * `all`, or some of `train`, `metro`, `lightrail`, `bus`, `coach`, `ferry`, `schoolbus` separated by commas.
         */
        modes?: Array<'all' | 'train' | 'metro' | 'lightrail' | 'bus' | 'coach' | 'ferry' | 'schoolbus'>;
        /**
         * Only alerts of these categories.
         */
        category?: Array<'trackwork' | 'service_change' | 'lifts_escalators'>;
        /**
         * Minimum severity. Transport for NSW marks most alerts as `normal`, and those of lifts as `low`.
         */
        severity?: 'very_high' | 'high' | 'normal' | 'low' | 'very_low';
        /**
         * Alerts in force at this time: `HHmm` today (24-hour, Sydney time), a date (at the present time of day), or date and time in ISO 8601. Default: now.
         */
        at?: string;
        /**
         * Maximum number of alerts. Values above 300 count as 300.
         */
        limit?: number;
    };
    url: '/v1/alerts';
};

export type ListAlertsResponses = {
    /**
     * Alerts
     */
    200: Alerts;
};

export type ListAlertsResponse = ListAlertsResponses[keyof ListAlertsResponses];

export type GetAlertData = {
    body?: never;
    path: {
        /**
         * An alert ID.
         */
        alert_id: string;
    };
    query?: never;
    url: '/v1/alerts/{alert_id}';
};

export type GetAlertResponses = {
    /**
     * An alert
     */
    200: Alert;
};

export type GetAlertResponse = GetAlertResponses[keyof GetAlertResponses];

export type GetRunData = {
    body?: never;
    path: {
        /**
         * The `run_id` from a board or journey with `include=ids`.
         */
        run_id: string;
    };
    query?: {
        /**
         * `access` adds `vehicle_accessible` and `bikes_allowed`. `carriages` adds `carriages`, the predicted occupancy of each train carriage on leaving the stop, if the feeds report it. `occupancy` adds `occupancy_source`, and the usual occupancy of this weekday where none is reported for the vehicle. Trains only. `delay` adds `delay_seconds` wherever there is a live time: how much later than planned that is, negative if it is earlier.
         */
        include?: Array<'access' | 'carriages' | 'occupancy' | 'delay'>;
    };
    url: '/v1/runs/{run_id}';
};

export type GetRunResponses = {
    /**
     * Follow a run
     */
    200: Run;
};

export type GetRunResponse = GetRunResponses[keyof GetRunResponses];

export type ListVehiclesData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The map area as `south,west,north,east`, at most 0.5 degrees each way. Give `bbox`, `lat` and `lng`, `line`, or `run`.
         */
        bbox?: string;
        /**
         * Latitude, EPSG:4326.
         */
        lat?: number;
        /**
         * Longitude, EPSG:4326.
         */
        lng?: number;
        /**
         * Radius in metres around `lat` and `lng`; nearest vehicles first. Default 1000. Values above 5000 count as 5000.
         */
        radius?: number;
        /**
         * A `run_id`: lists the vehicle of this run, wherever it is.
         */
        run?: string;
        /**
         * A `line_id` or short name: lists the vehicles of this line, wherever they are.
         */
        line?: string;
        /**
         * `all`, or some of `train`, `metro`, `lightrail`, `bus`, `coach`, `ferry`, `schoolbus` separated by commas.
         */
        modes?: Array<'all' | 'train' | 'metro' | 'lightrail' | 'bus' | 'coach' | 'ferry' | 'schoolbus'>;
        /**
         * Only vehicles of these routes: up to 50 short names or line IDs (`T4` or `train_T4`) separated by commas.
         */
        routes?: Array<string>;
        /**
         * Maximum number of vehicles. Values above 1000 count as 1000.
         */
        limit?: number;
        /**
         * `geojson` is a FeatureCollection of RFC 7946, in which longitude comes first.
         */
        format?: 'json' | 'geojson';
    };
    url: '/v1/vehicles';
};

export type ListVehiclesResponses = {
    /**
     * Vehicles on a map
     */
    200: Vehicles;
};

export type ListVehiclesResponse = ListVehiclesResponses[keyof ListVehiclesResponses];

export type ListCarParksData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * A position as `lat,lng`. Lists the car parks within `radius`, nearest first.
         */
        near?: string;
        /**
         * Radius in metres around `near`. Default 5000. Values above 50000 count as 50000.
         */
        radius?: number;
        /**
         * A map area as `south,west,north,east`. With `near`, only car parks within both are listed.
         */
        bbox?: string;
        /**
         * `geojson` is a FeatureCollection of RFC 7946, in which longitude comes first.
         */
        format?: 'json' | 'geojson';
    };
    url: '/v1/carparks';
};

export type ListCarParksResponses = {
    /**
     * Car parks
     */
    200: CarParks;
};

export type ListCarParksResponse = ListCarParksResponses[keyof ListCarParksResponses];

export type GetCarParkData = {
    body?: never;
    path: {
        /**
         * ID of the car park.
         */
        carpark_id: string;
    };
    query?: never;
    url: '/v1/carparks/{carpark_id}';
};

export type GetCarParkResponses = {
    /**
     * A car park
     */
    200: CarPark;
};

export type GetCarParkResponse = GetCarParkResponses[keyof GetCarParkResponses];

export type StreamDeparturesData = {
    body?: never;
    path?: never;
    query: {
        /**
         * Stop ID, from `/v1/stops/search` or `/v1/nearby`.
         */
        stop: string;
        /**
         * Maximum number of departures, applied after the filters. Values above 50 count as 50.
         */
        limit?: number;
        /**
         * `all`, or some of `train`, `metro`, `lightrail`, `bus`, `coach`, `ferry`, `schoolbus` separated by commas.
         */
        modes?: Array<'all' | 'train' | 'metro' | 'lightrail' | 'bus' | 'coach' | 'ferry' | 'schoolbus'>;
        /**
         * Only these routes: up to 50 short names or line IDs (`T4` or `train_T4`) separated by commas. Only the next 120 vehicles of the selected modes are searched.
         */
        routes?: Array<string>;
        /**
         * Minutes you need to get to the stop. Departures that leave sooner, by the best-known time, are left out. Counts from now, or from `date` and `time`.
         */
        lead?: number;
        /**
         * Maximum number of departures for each route and headsign, applied after the other filters. The search reaches as far ahead as with `routes`. Values above 50 count as 50.
         */
        per_route?: number;
        /**
         * Only departures that stop there later. Each has `arrives_at` and `arrives_at_realtime`. A station includes its platforms. The search reaches as far ahead as with `routes`.
         */
        to?: string;
        /**
         * Date `YYYYMMDD` or `YYYY-MM-DD`, Sydney local time, yesterday or later. Default: today.
         */
        date?: string;
        /**
         * Time of day `HHmm` or `HH:mm`, 24-hour clock, Sydney local time. Or date and time as ISO 8601, such as `2026-11-23T08:00+11:00` or `2026-11-22T21:00Z`; without an offset it is Sydney local time. Default: now.
         */
        time?: string;
        /**
         * `include` also lists cancelled services and adds `cancelled` to every record. They keep their place and count towards `limit`, not towards `per_route`.
         */
        cancelled?: 'exclude' | 'include';
        /**
         * `ids` adds `line_id`, `trip_id`, `run_id` and `alert_ids` to each departure. `colors` adds `color` and `text_color`, the colours of each line. `alert_texts` adds `alert_texts`, with each alert text once; records refer to it by `alert_ids`, and their `alerts` are empty. `access` adds `vehicle_accessible` and `stop_accessible`, from which `wheelchair_accessible` is derived, and `bikes_allowed`. `delay` adds `delay_seconds` wherever there is a live time: how much later than planned that is, negative if it is earlier. `calls` adds `calls` to each departure: its stops from here to the end of the run. `carriages` adds `carriages`, the predicted occupancy of each train carriage on leaving the stop, if the feeds report it. `occupancy` adds `occupancy_source`, and the usual occupancy of this weekday where none is reported for the vehicle. Trains only. `through` adds `through_to`, where the vehicle goes on to with its riders on board, if that is another place than its headsign names. `usual` adds `usual`: how late this departure usually is, the share on time and cancelled, and how many runs that is based on.
         */
        include?: Array<'ids' | 'colors' | 'alert_texts' | 'access' | 'delay' | 'calls' | 'carriages' | 'occupancy' | 'through' | 'usual'>;
    };
    url: '/v1/departures/stream';
};

export type StreamDeparturesResponses = {
    /**
     * Departures of a stop
     */
    200: Departures;
};

export type StreamDeparturesResponse = StreamDeparturesResponses[keyof StreamDeparturesResponses];

export type StreamJourneyData = {
    body?: never;
    path: {
        /**
         * The `journey_id` from `/v1/trips` with `include=ids`.
         */
        journey_id: string;
    };
    query?: {
        /**
         * `calls` adds `calls` to each leg: every stop of the vehicle in order, including both ends. Skipped stops are `cancelled` if known. `colors` adds `color` and `text_color`, the colours of each line. `carriages` adds `carriages`, the predicted occupancy of each train carriage on leaving the stop, if the feeds report it. `delay` adds `delay_seconds` wherever there is a live time: how much later than planned that is, negative if it is earlier.
         */
        include?: Array<'calls' | 'colors' | 'carriages' | 'delay'>;
    };
    url: '/v1/trips/{journey_id}/stream';
};

export type StreamJourneyResponses = {
    /**
     * Follow a journey
     */
    200: JourneyNow;
};

export type StreamJourneyResponse = StreamJourneyResponses[keyof StreamJourneyResponses];

export type StreamAlertsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Only alerts that name this stop, its platforms or its station, and alerts that name only lines if one of these lines leaves there.
         */
        stop?: string;
        /**
         * Only alerts that name one of these routes: up to 50 short names or line IDs (`T4` or `train_T4`) separated by commas.
         */
        routes?: Array<string>;
        /**
         * `all`, or some of `train`, `metro`, `lightrail`, `bus`, `coach`, `ferry`, `schoolbus` separated by commas.
         */
        modes?: Array<'all' | 'train' | 'metro' | 'lightrail' | 'bus' | 'coach' | 'ferry' | 'schoolbus'>;
        /**
         * Only alerts of these categories.
         */
        category?: Array<'trackwork' | 'service_change' | 'lifts_escalators'>;
        /**
         * Minimum severity. Transport for NSW marks most alerts as `normal`, and those of lifts as `low`.
         */
        severity?: 'very_high' | 'high' | 'normal' | 'low' | 'very_low';
        /**
         * Alerts in force at this time: `HHmm` today (24-hour, Sydney time), a date (at the present time of day), or date and time in ISO 8601. Default: now.
         */
        at?: string;
        /**
         * Maximum number of alerts. Values above 300 count as 300.
         */
        limit?: number;
    };
    url: '/v1/alerts/stream';
};

export type StreamAlertsResponses = {
    /**
     * Alerts
     */
    200: Alerts;
};

export type StreamAlertsResponse = StreamAlertsResponses[keyof StreamAlertsResponses];

export type StreamRunData = {
    body?: never;
    path: {
        /**
         * The `run_id` from a board or journey with `include=ids`.
         */
        run_id: string;
    };
    query?: {
        /**
         * `access` adds `vehicle_accessible` and `bikes_allowed`. `carriages` adds `carriages`, the predicted occupancy of each train carriage on leaving the stop, if the feeds report it. `occupancy` adds `occupancy_source`, and the usual occupancy of this weekday where none is reported for the vehicle. Trains only. `delay` adds `delay_seconds` wherever there is a live time: how much later than planned that is, negative if it is earlier.
         */
        include?: Array<'access' | 'carriages' | 'occupancy' | 'delay'>;
    };
    url: '/v1/runs/{run_id}/stream';
};

export type StreamRunResponses = {
    /**
     * Follow a run
     */
    200: Run;
};

export type StreamRunResponse = StreamRunResponses[keyof StreamRunResponses];

export type StreamVehiclesData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The map area as `south,west,north,east`, at most 0.5 degrees each way. Give `bbox`, `lat` and `lng`, `line`, or `run`.
         */
        bbox?: string;
        /**
         * Latitude, EPSG:4326.
         */
        lat?: number;
        /**
         * Longitude, EPSG:4326.
         */
        lng?: number;
        /**
         * Radius in metres around `lat` and `lng`; nearest vehicles first. Default 1000. Values above 5000 count as 5000.
         */
        radius?: number;
        /**
         * A `run_id`: lists the vehicle of this run, wherever it is.
         */
        run?: string;
        /**
         * A `line_id` or short name: lists the vehicles of this line, wherever they are.
         */
        line?: string;
        /**
         * `all`, or some of `train`, `metro`, `lightrail`, `bus`, `coach`, `ferry`, `schoolbus` separated by commas.
         */
        modes?: Array<'all' | 'train' | 'metro' | 'lightrail' | 'bus' | 'coach' | 'ferry' | 'schoolbus'>;
        /**
         * Only vehicles of these routes: up to 50 short names or line IDs (`T4` or `train_T4`) separated by commas.
         */
        routes?: Array<string>;
        /**
         * Maximum number of vehicles. Values above 1000 count as 1000.
         */
        limit?: number;
        /**
         * `geojson` is a FeatureCollection of RFC 7946, in which longitude comes first.
         */
        format?: 'json' | 'geojson';
    };
    url: '/v1/vehicles/stream';
};

export type StreamVehiclesResponses = {
    /**
     * Vehicles on a map
     */
    200: Vehicles;
};

export type StreamVehiclesResponse = StreamVehiclesResponses[keyof StreamVehiclesResponses];

export type CreateTokenData = {
    body?: TokenRequest;
    path?: never;
    query?: never;
    url: '/v1/tokens';
};

export type CreateTokenResponses = {
    /**
     * A token
     */
    200: Token;
};

export type CreateTokenResponse = CreateTokenResponses[keyof CreateTokenResponses];
