/* Names and numbers as reports spell them: for people, and as JSON. */
#ifndef OUTPUT_REPORT_FIELDS_H
#define OUTPUT_REPORT_FIELDS_H

#include "core/json.h"
#include "output/summary/report_text.h"

#endif
